// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultFreeConformance;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Tests that the backend fulfils the contract of every backend on a Redis Cluster of six nodes. */
@Tag("once")
@Tag("long")
class ClusterConformanceTest extends FaultFreeConformance {
    private static RedisTestCluster cluster;

    @BeforeAll
    static void startCluster() throws InterruptedException {
        cluster = RedisTestCluster.start();
        // On a busy machine, opening the first client of a JVM can take longer than a lease.
        try (LockClient client = new OnePrefix("warm:").open(RedisTests.LONG_TIMEOUTS)) {
            client.named("x").acquire().release();
        }
    }

    @AfterAll
    static void stopCluster() {
        cluster.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return new OnePrefix("conformance-" + UUID.randomUUID() + ":");
    }

    private record OnePrefix(String prefix) implements BackendUnderTest {
        @Override
        public String description() {
            return "Redis Cluster";
        }

        @Override
        public LockClient open(ClientOptions options) {
            return RedisLocks.connect(
                    RedisOptions.connectToCluster(cluster.nodes().stream()
                                    .map(node -> RedisURI.create("127.0.0.1", node.port()))
                                    .toList())
                            .prefix(prefix),
                    options);
        }

        /** Long enough that a machine that stalls still renews in time, which happens every third of it. */
        @Override
        public Duration lease() {
            return Duration.ofSeconds(3);
        }

        @Override
        public Optional<String> url() {
            return Optional.of("redis-cluster://" + cluster.addresses() + "?prefix=" + prefix + "&lease="
                    + lease().toSeconds() + "s");
        }

        @Override
        public OptionalLong requests() {
            return OptionalLong.of(RedisTests.scriptsButRenewals(cluster));
        }

        /** Netty keeps one executor for the whole JVM; the client's threads are those of Lettuce and Mortise. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return !name.startsWith("lettuce-") && !name.startsWith("mortise");
        }
    }
}
