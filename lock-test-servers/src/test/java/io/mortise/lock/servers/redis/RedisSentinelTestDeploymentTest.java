// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Tag("once")
@Tag("long")
class RedisSentinelTestDeploymentTest {
    private static final Logger log = LoggerFactory.getLogger(RedisSentinelTestDeploymentTest.class);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void failOver_promotesTheReplica_andTheOldMasterBecomesAReplica() {
        long start = System.nanoTime();
        try (RedisSentinelTestDeployment sentinel = RedisSentinelTestDeployment.start()) {
            long started = System.nanoTime();
            RedisTestServer first = sentinel.master();
            assertThat(first).isSameAs(sentinel.nodes().get(0));
            setReplicated(first, "key", "1");

            RedisTestServer second = sentinel.failOver();
            log.info("event=figures start_ms={} failover_ms={}", millis(start, started), millis(started, now()));
            assertThat(second).isSameAs(sentinel.nodes().get(1));
            assertThat(sentinel.master()).isSameAs(second);
            assertThat(first.isAlive()).isFalse();
            assertThat(get(second, "key")).isEqualTo("1");
            set(second, "key", "2");

            first.restart();
            Await.until("the old master follows", LIMIT, () -> "2".equals(get(first, "key")));
            assertThatThrownBy(() -> set(first, "key", "3")).hasMessageStartingWith("READONLY");
            sentinel.awaitReadyForFailover();
            assertThat(sentinel.failOver()).isSameAs(first);
        }
    }

    @Test
    void frozenMaster_isReplaced_evenWithoutTheFirstSentinel() {
        try (RedisSentinelTestDeployment sentinel = RedisSentinelTestDeployment.start()) {
            assertThat(sentinel.addresses().split(",", -1)).hasSize(3);
            sentinel.killSentinel(0);
            RedisTestServer old = sentinel.master();
            old.pause();
            RedisTestServer promoted = sentinel.awaitMasterOtherThan(old);
            set(promoted, "key", "2");
            old.resume();
            Await.until("the old master follows", LIMIT, () -> "2".equals(get(old, "key")));
            sentinel.restartSentinel(0);
            sentinel.awaitReadyForFailover();
            assertThat(sentinel.master()).isSameAs(promoted);
        }
    }

    @Test
    void failOver_worksWithOneSentinelTwoReplicasAndAPassword() {
        RedisServerOptions options = RedisServerOptions.defaults().withPassword("s3cret");
        try (RedisSentinelTestDeployment sentinel = RedisSentinelTestDeployment.start(options, 2, 1)) {
            RedisTestServer promoted = sentinel.failOver();
            try (RawRedis redis = promoted.connect()) {
                // The other replica follows the new master.
                Await.until(
                        "the new master has a replica",
                        LIMIT,
                        () -> "1".equals(redis.info("replication").get("connected_slaves")));
            }
        }
    }

    private static void set(RedisTestServer node, String key, String value) {
        try (RawRedis redis = node.connect()) {
            redis.call("SET", key, value);
        }
    }

    /** Sets a key and waits until a replica has it, since a failover would lose it otherwise. */
    private static void setReplicated(RedisTestServer node, String key, String value) {
        try (RawRedis redis = node.connect()) {
            redis.call("SET", key, value);
            assertThat(redis.call("WAIT", "1", "20000")).isEqualTo(1L);
        }
    }

    private static Object get(RedisTestServer node, String key) {
        return node.tryCall("GET", key).orElse("none");
    }

    private static long now() {
        return System.nanoTime();
    }

    private static long millis(long from, long to) {
        return (to - from) / 1_000_000;
    }
}
