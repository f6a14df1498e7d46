// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The demo on a server that runs already, by URL. */
@Tag("once")
class RedisDemoTest {
    @Test
    void runsByUrlAndLeavesOnlyTheCounter() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        try (RedisTestServer server = RedisTestServer.start();
                BareRedis redis = server.connect()) {
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
                    .startsWith("{\"ok\":true,\"failures\":[],\"url\":\"redis://127.0.0.1:")
                    .contains("\"lateWriteRefused\":true,\"isHeldAfterwards\":false");
            assertThat(redis.call("KEYS", "*")).isEqualTo(List.of("lock:%token"));
        }
    }
}
