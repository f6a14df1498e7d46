// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
@Tag("long")
class RedlockDemoTest {
    @Test
    void succeedsDespiteAKilledMasterAndLeavesOnlyTheTokenCounters() {
        AtomicInteger killed = new AtomicInteger();
        try (RedisTestServer one = RedisTestServer.start();
                RedisTestServer two = RedisTestServer.start();
                RedisTestServer three = RedisTestServer.start()) {
            String url = "redlock://127.0.0.1:" + one.port() + ",127.0.0.1:" + two.port() + ",127.0.0.1:" + three.port()
                    + "?testOnlyNewMasters=true";

            DemoByUrl.assertDemoSucceeds(url, () -> {
                one.kill();
                killed.incrementAndGet();
            });

            assertThat(killed).hasValue(1);
            assertThat(one.isAlive()).isFalse();
            assertThat(keys(two)).isEqualTo("[lock:%redlock]");
            assertThat(keys(three)).isEqualTo("[lock:%redlock]");
        }
    }

    private static String keys(RedisTestServer server) {
        try (RawRedis redis = server.connect()) {
            return String.valueOf(redis.call("KEYS", "*"));
        }
    }
}
