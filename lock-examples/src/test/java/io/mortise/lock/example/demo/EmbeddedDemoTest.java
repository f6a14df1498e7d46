// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.example.ExamplesMain;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Tests the command without a URL, with its own ZooKeeper server and the smallest possible numbers. */
class EmbeddedDemoTest {
    @Test
    void oneItemAndTwoWorkersAreEnough() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();

        int code = ExamplesMain.run(
                new PrintWriter(out), new PrintWriter(err), "demo", "--json", "--workers", "2", "--items", "1");

        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString().lines())
                .singleElement()
                .asString()
                .startsWith("{\"ok\":true,\"failures\":[],\"url\":\"zookeeper://127.0.0.1:")
                .contains("\"withoutLock\":{\"sales\":2,\"stockRemoved\":1,\"lost\":1}")
                .contains("\"withLock\":{\"sales\":1,\"stockRemoved\":1,\"lost\":0")
                .contains("\"lateWriteRefused\":true,\"isHeldAfterwards\":false");
        assertThat(err.toString()).contains("killed w1 (kill -9)", "froze w2 (SIGSTOP)");
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }
}
