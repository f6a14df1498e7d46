// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Base class for tests that share five masters within a test class. No test may leave lock keys. */
abstract class FiveMastersTest {
    static final Duration SOON = Duration.ofSeconds(20);
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    static final Duration LEASE = Duration.ofSeconds(6);

    /** Long enough that a slow machine does not look like a stalled master. */
    private static final Duration NODE_TIMEOUT = LEASE.dividedBy(4);

    static final RedlockKeys KEYS = new RedlockKeys(RedlockOptions.DEFAULT_PREFIX);
    static RedisTestMasters masters;

    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void startMasters() {
        masters = RedisTestMasters.start(5);
    }

    @AfterAll
    static void stopMasters() {
        masters.close();
    }

    static RedlockOptions options() {
        return RedlockOptions.connectTo(masters.ports().stream()
                        .map(port -> RedisURI.create("127.0.0.1", port))
                        .toList())
                .leaseDuration(LEASE)
                .nodeTimeout(NODE_TIMEOUT)
                .testOnlyNewMasters();
    }

    /** Opens a client for which all masters vote; it is closed after the test. */
    final LockClient client() {
        LockClient client = RedlockLocks.connect(options(), LONG_TIMEOUTS);
        clients.add(client);
        awaitAllVote(client);
        return client;
    }

    /** Waits until all masters vote, since a client opens as soon as a majority votes. */
    static void awaitAllVote(LockClient client) {
        Await.until(
                "all masters vote",
                SOON,
                () -> client.admin().orElseThrow().diagnose().toCompletableFuture().join().stream()
                        .noneMatch(finding -> finding.what().contains("does not vote")));
    }

    final void closeLater(LockClient client) {
        clients.add(client);
    }

    static RedlockKeys.LockKeys keys(String lock) {
        return KEYS.of(new LockName(lock));
    }

    /** Waits until a release has also reached the masters beyond the majority. */
    static void awaitNoLockKeys() {
        masters.each(redis -> Await.until(
                "no lock key remains", SOON, () -> List.of(KEYS.state()).containsAll(redis.keys("*"))));
    }

    @AfterEach
    final void assertNoLockKeys() {
        clients.forEach(LockClient::close);
        awaitNoLockKeys();
        masters.each(redis -> assertThat(redis.keys("*")).containsExactly(KEYS.state()));
    }
}
