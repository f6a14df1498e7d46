// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what happens when the server's wall clock, by which keys expire, is set while locks are held and waited for. */
@Tag("once")
class RedisClockTest {
    private static final Duration FAR = Duration.ofHours(1);

    private RedisTestServer server;
    private LockClient client;
    private LockClient other;

    @BeforeEach
    void start() {
        assumeTrue(RedisTestServer.canSetClock(), "libfaketime is not installed");
        server = RedisTestServer.start(RedisServerOptions.defaults().withOwnClock());
        client = connect("6s");
        other = connect("30s");
    }

    private LockClient connect(String lease) {
        return Locks.connect(server.url() + "?lease=" + lease, RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            client.close();
            other.close();
            server.close();
        }
    }

    @Test
    void S03_tokensIncreaseWhicheverWayTheClockIsSet() throws InterruptedException {
        long last = 0;
        for (Duration ahead : new Duration[] {Duration.ZERO, FAR, Duration.ZERO, FAR.negated(), FAR}) {
            server.setClock(ahead);
            for (LockClient each : new LockClient[] {client, other, client}) {
                try (Lease lease = each.named("x").tryAcquire(RedisTests.SOON).orElseThrow()) {
                    assertThat(lease.fencingToken()).isGreaterThan(last);
                    last = lease.fencingToken();
                }
            }
        }
    }

    @Test
    void S07_setForwardTheHolderLearnsOfTheLossByItsNextRenewal() throws Exception {
        Lease held = client.named("x").acquire();
        server.setClock(FAR);
        try (Lease next = other.named("x").tryAcquire(RedisTests.SOON).orElseThrow()) {
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            assertThat(held.lost().get(20, TimeUnit.SECONDS).kind())
                    .isIn(LossReason.Kind.REMOVED, LossReason.Kind.EXPIRED);
            assertThat(held.release()).isEqualTo(ReleaseOutcome.LOST);
            assertThat(next.isHeld()).isTrue();
            assertThat(client.named("x").tryAcquire()).isEmpty();
        }
    }

    @Test
    void S11_setForwardWaitersAreQueuedAgain() throws Exception {
        try (Lease held = other.named("x").acquire()) {
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            awaitWaiter();
            server.setClock(FAR); // the grant and the queue entry expire
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    @Test
    void S02_aHandOffByAClockThatWasSetForwardIsOnlyAHint() throws Exception {
        client.named("x").acquire().release(); // so that the server knows the scripts
        LockOptions unrenewed = LockOptions.defaults().leaseDuration(Duration.ofSeconds(20)); // no renewal is counted
        Lease held = client.named("x", unrenewed).acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        awaitWaiter();
        try (RawRedis redis = server.connect()) {
            redis.resetCommandCalls();
            server.setClock(Duration.ofMillis(1_500)); // the waiter is queued; the hand-off seems to be in the future
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(redis.scriptCallsExceptRenewals())
                    .as("the release, and the request that confirms the grant")
                    .isEqualTo(2);
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    @Test
    void S05_S07_setBackHoldersKeepAndReleaseTheirLocksAndWaitersAreServed() throws Exception {
        server.setClock(FAR);
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        awaitWaiter();
        server.setClock(Duration.ZERO);
        long start = System.nanoTime();
        Await.until(
                "several renewals have passed",
                RedisTests.SOON,
                () -> System.nanoTime() - start > TimeUnit.SECONDS.toNanos(5));
        assertThat(held.isHeld()).isTrue();
        assertThat(waiting).isNotDone();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiting.get(20, TimeUnit.SECONDS).release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    private void awaitWaiter() {
        try (RawRedis redis = server.connect()) {
            Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
        }
    }
}
