// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
@Tag("long")
class RedisDemoTest {
    @Test
    void succeedsAndLeavesOnlyTheTokenCounter() {
        try (RedisTestServer server = RedisTestServer.start();
                RawRedis redis = server.connect()) {
            DemoByUrl.assertDemoSucceeds(server.url());

            assertThat(redis.call("KEYS", "*")).isEqualTo(List.of("lock:%token"));
        }
    }
}
