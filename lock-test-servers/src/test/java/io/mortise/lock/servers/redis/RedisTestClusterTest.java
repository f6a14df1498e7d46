// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Tag("once")
@Tag("long")
class RedisTestClusterTest {
    private static final Logger log = LoggerFactory.getLogger(RedisTestClusterTest.class);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int KEYS = 250;

    @Test
    void start_distributesSlotsOverThreeMasters() {
        long start = System.nanoTime();
        try (RedisTestCluster cluster = RedisTestCluster.start()) {
            log.info("event=figures start_ms={}", (System.nanoTime() - start) / 1_000_000);
            List<RedisTestServer> nodes = cluster.nodes();
            assertThat(cluster.addresses())
                    .isEqualTo(nodes.stream()
                            .map(node -> "127.0.0.1:" + node.port())
                            .collect(Collectors.joining(",")));
            assertThat(cluster.masterOf(0)).isSameAs(nodes.get(0));
            assertThat(cluster.masterOf(8_000)).isSameAs(nodes.get(1));
            assertThat(cluster.masterOf(RedisTestCluster.SLOTS - 1)).isSameAs(nodes.get(2));
            assertThat(cluster.slotOf("foo")).isEqualTo(12_182).isEqualTo(cluster.slotOf("a{foo}b"));
            try (RawRedis redis = nodes.get(2).connect();
                    RawRedis other = nodes.get(0).connect()) {
                assertThat(redis.call("SET", "foo", "1")).isEqualTo("OK");
                assertThatThrownBy(() -> other.call("SET", "foo", "2"))
                        .hasMessage("MOVED 12182 127.0.0.1:" + nodes.get(2).port());
                assertThat(redis.call("WAIT", "1", "10000")).isEqualTo(1L);
            }
        }
    }

    @Test
    void failOver_promotesTheReplica_andTheOldMasterBecomesAReplica() {
        try (RedisTestCluster cluster = RedisTestCluster.start()) {
            int slot = cluster.slotOf("foo");
            RedisTestServer first = cluster.masterOf(slot);
            try (RawRedis redis = first.connect()) {
                redis.call("SET", "foo", "1");
                assertThat(redis.call("WAIT", "1", "10000")).isEqualTo(1L);
            }
            long start = System.nanoTime();
            RedisTestServer second = cluster.failOver(slot);
            log.info("event=figures failover_ms={}", (System.nanoTime() - start) / 1_000_000);
            assertThat(second).isSameAs(cluster.nodes().get(5));
            assertThat(cluster.masterOf(slot)).isSameAs(second);
            try (RawRedis redis = second.connect()) {
                assertThat(redis.call("GET", "foo")).isEqualTo("1");
                redis.call("SET", "foo", "2");
                first.restart();
                assertThat(redis.call("WAIT", "1", "20000")).isEqualTo(1L);
            }
            assertThat(first.tryCall("ROLE").toString()).startsWith("Optional[[slave");
            assertThat(cluster.masterOf(slot)).isSameAs(second);
        }
    }

    @Test
    void frozenMaster_isReplaced() {
        try (RedisTestCluster cluster = RedisTestCluster.start()) {
            RedisTestServer old = cluster.masterOf(0);
            old.pause();
            RedisTestServer promoted = cluster.awaitMasterOtherThan(old, 0);
            old.resume();
            Await.until(
                    "the old master follows",
                    LIMIT,
                    () -> old.tryCall("ROLE").toString().startsWith("Optional[[slave"));
            assertThat(cluster.masterOf(0)).isSameAs(promoted);
        }
    }

    @Test
    void migrate_movesTheKeys() {
        RedisServerOptions options = RedisServerOptions.defaults().withPassword("s3cret");
        try (RedisTestCluster cluster = RedisTestCluster.start(options)) {
            int slot = cluster.slotOf("foo");
            RedisTestServer from = cluster.masterOf(slot);
            RedisTestServer to = cluster.masterOf(0);
            try (RawRedis source = from.connect();
                    RawRedis target = to.connect()) {
                for (int i = 0; i < KEYS; i++) {
                    source.call("SET", "{foo}" + i, Integer.toString(i));
                }
                RedisSlotMigration migration = cluster.startMigration(slot, to);
                assertThat(source.call("GET", "{foo}1")).isEqualTo("1");
                assertThatThrownBy(() -> source.call("GET", "{foo}new")).hasMessage("ASK 12182 127.0.0.1:" + to.port());
                assertThatThrownBy(migration::finish).hasMessageContaining("have not been moved");
                migration.moveKeys();
                assertThatThrownBy(() -> source.call("GET", "{foo}1")).hasMessageStartingWith("ASK");
                migration.finish();
                assertThat(cluster.masterOf(slot)).isSameAs(to);
                assertThatThrownBy(() -> source.call("GET", "{foo}1")).hasMessageStartingWith("MOVED");
                List<Object> values = new ArrayList<>();
                for (int i = 0; i < KEYS; i++) {
                    values.add(target.call("GET", "{foo}" + i));
                }
                assertThat(values)
                        .hasSize(KEYS)
                        .startsWith("0", "1")
                        .endsWith("249")
                        .doesNotContainNull();
            }
            cluster.migrate(slot, from);
            assertThat(cluster.masterOf(slot)).isSameAs(from);
            assertThatThrownBy(() -> cluster.startMigration(slot, from)).hasMessageContaining("already");
        }
    }
}
