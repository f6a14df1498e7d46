// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that Mortise and the npm package {@code redlock} exclude each other on the same masters.
 *
 * <p>Uses versions 4 and 5 of the package, with {@code redlock://} on three masters and {@code redis://} on one of them.
 */
@Tag("once")
class NodeJsRedlockTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final String LEASE = "?lease=5s";

    private static RedisTestMasters masters;
    private static LockClient three;
    private static LockClient one;

    @BeforeAll
    static void start() throws Exception {
        NodeRedlock.install();
        masters = RedisTestMasters.start(3);
        three = Locks.connect(masters.url() + LEASE + "&testOnlyNewMasters=true", LONG_TIMEOUTS);
        FiveMastersTest.awaitAllVote(three);
        one = Locks.connect(masters.get(0).url() + LEASE, LONG_TIMEOUTS);
    }

    @AfterAll
    static void stop() {
        if (masters != null) {
            three.close();
            one.close();
            masters.close();
        }
    }

    static Stream<Arguments> versionsAndMasterCounts() {
        return Stream.of(4, 5).flatMap(version -> Stream.of(Arguments.of(version, 3), Arguments.of(version, 1)));
    }

    private static DistributedLock mortiseLock(int count, String name) {
        return (count == 3 ? three : one).named(name);
    }

    private static NodeRedlock startNodeRedlock(int version, int count) throws Exception {
        return NodeRedlock.start(version, masters.ports().subList(0, count));
    }

    @ParameterizedTest
    @MethodSource("versionsAndMasterCounts")
    void S01_S18_nodeRedlockExcludesMortiseAndIsShownAsForeign(int version, int count) throws Exception {
        DistributedLock lock = mortiseLock(count, "x");
        try (NodeRedlock node = startNodeRedlock(version, count)) {
            assertThat(node.lock("lock:x", 30_000)).isTrue();
            assertThat(lock.tryAcquire()).isEmpty();
            List<LockHolder> holders = lock.status().get(10, TimeUnit.SECONDS).holders();
            assertThat(holders).singleElement().matches(LockHolder::isForeign);
            assertThat(node.extend(30_000)).isTrue();
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(node.unlock()).isTrue();
            lock.tryAcquire().orElseThrow().close();
        }
    }

    @ParameterizedTest
    @MethodSource("versionsAndMasterCounts")
    void S01_mortiseExcludesNodeRedlock(int version, int count) throws Exception {
        DistributedLock lock = mortiseLock(count, "y");
        try (NodeRedlock node = startNodeRedlock(version, count)) {
            try (Lease lease = lock.acquire()) {
                assertThat(node.lock("lock:y", 30_000)).isFalse();
                assertThat(lease.isHeld()).isTrue();
            }
            Await.until("node-redlock acquires the lock that Mortise has released", SOON, () -> tryLock(node));
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(node.unlock()).isTrue();
        }
    }

    /** A killed process leaves its keys, which expire. */
    @ParameterizedTest
    @MethodSource("versionsAndMasterCounts")
    void S11_expiredLockOfNodeRedlockIsAcquiredSoon(int version, int count) throws Exception {
        DistributedLock lock = mortiseLock(count, "z");
        try (NodeRedlock node = startNodeRedlock(version, count)) {
            assertThat(node.lock("lock:z", 3_000)).isTrue();
        }
        lock.tryAcquire(Duration.ofSeconds(10)).orElseThrow().close();
    }

    private static boolean tryLock(NodeRedlock node) {
        try {
            return node.lock("lock:y", 30_000);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
