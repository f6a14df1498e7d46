// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.BareEtcd;
import io.mortise.lock.testkit.servers.EtcdTestServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The demo on a server that runs already, by URL. */
@Tag("once")
class EtcdDemoTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void runsByUrlAndLeavesNothing() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        try (EtcdTestServer server = EtcdTestServer.start()) {
            BareEtcd etcd = server.connect();
            int code = LockCtl.run(
                    new PrintWriter(out),
                    new PrintWriter(err),
                    "demo",
                    "--url",
                    server.url() + "?lease=3s",
                    "--json",
                    "--workers",
                    "2",
                    "--items",
                    "3");

            assertThat(code).as(err.toString()).isZero();
            assertThat(out.toString())
                    .startsWith("{\"ok\":true,\"failures\":[],\"url\":\"etcd://127.0.0.1:")
                    .contains("\"lateWriteRefused\":true,\"isHeldAfterwards\":false");
            Await.until("killed workers have left", SOON, () -> etcd.list("").isEmpty());
        }
    }
}
