// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests hand-offs to a waiter whose link is slow, silent or cut. */
class RedisHandOffTest extends OneServerTest {
    private static final LockOptions SHORT = LockOptions.defaults().leaseDuration(Duration.ofSeconds(4));

    private TcpProxy link;
    private LockClient near;
    private LockClient far;

    @BeforeEach
    void connect() {
        link = TcpProxy.to("127.0.0.1", server.port());
        near = RedisLocks.connect(options(), RedisTests.LONG_TIMEOUTS);
        far = RedisLocks.connect(
                RedisOptions.connectTo(RedisURI.create("127.0.0.1", link.port())), RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void close() {
        link.heal();
        far.close();
        near.close();
        link.close();
        assertThat(redis.keys("*")).isSubsetOf("lock:%token");
    }

    private CompletableFuture<Lease> waiting(LockClient client) {
        return waiting(client, SHORT);
    }

    private CompletableFuture<Lease> waiting(LockClient client, LockOptions options) {
        long before = RedisTests.waiters(redis, "x");
        CompletableFuture<Lease> lease = client.named("x", options).acquireAsync();
        Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == before + 1);
        return lease;
    }

    private static long remainingMillis() {
        return (Long) Objects.requireNonNull(redis.call("PTTL", "lock:x"));
    }

    private static void assertDeadlineIsSafe(Lease lease) {
        long start = System.nanoTime();
        long remaining = lease.remaining().toMillis();
        long atServer = remainingMillis();
        long took = (System.nanoTime() - start) / 1_000_000 + 1;
        assertThat(remaining)
                .as("ms until the deadline, compared with the server's")
                .isLessThanOrEqualTo(atServer + took);
        assertThat(remaining).as("and not much less").isGreaterThan(atServer - 500);
    }

    @Test
    void S02_aHandOffOverASlowLinkHasASafeDeadline() throws Exception {
        LockOptions options =
                LockOptions.defaults().leaseDuration(Duration.ofSeconds(12)); // a pause is less than half of it
        near.named("x", options).acquire().close(); // so that the server knows the scripts
        for (int i = 0; i < 3; i++) {
            Lease held = near.named("x", options).acquire();
            link.delay(Duration.ofMillis(1));
            CompletableFuture<Lease> waiting = waiting(far, options);
            Await.until("the reply has arrived", RedisTests.SOON, () -> link.heldBytes() == 0);
            link.delay(Duration.ofMillis(400)); // more than the margin of such a lease
            redis.resetCommandCalls();
            held.release();
            Lease next = waiting.get(10, TimeUnit.SECONDS);
            assertDeadlineIsSafe(next);
            assertThat(redis.scriptCallsExceptRenewals())
                    .as("handed off without another request")
                    .isEqualTo(1);
            link.delay(Duration.ZERO);
            next.close();
        }
    }

    @Test
    void S02_aMessageOlderThanHalfTheLeaseIsOnlyAHint() throws Exception {
        Lease held = near.named("x", SHORT).acquire();
        CompletableFuture<Lease> waiting = waiting(far);
        link.blackHole();
        held.release();
        Await.until("more than half of the lease has passed", RedisTests.SOON, () -> remainingMillis() < 1_900);
        link.heal();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.isHeld()).isTrue();
        assertDeadlineIsSafe(next);
        assertThat(remainingMillis())
                .as("the waiter sent a request, which renews")
                .isGreaterThan(2_000);
        next.close();
    }

    @Test
    void S01_aMessageAboutAnExpiredGrantGrantsNothing() throws Exception {
        Lease held = near.named("x", SHORT).acquire();
        CompletableFuture<Lease> waiting = waiting(far);
        link.blackHole();
        held.release();
        Lease successor = near.named("x", SHORT).acquire(); // succeeds when the lease of the silent client has expired
        link.heal();
        Await.until("it is queued again", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
        assertThat(waiting).isNotDone();
        assertThat(successor.isHeld()).isTrue();
        successor.release();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(successor.fencingToken());
        next.close();
    }

    @Test
    void S11_aMessageThatWasLostWithItsConnectionIsReplacedByARequestOnTheNext() throws Exception {
        Lease held = near.named("x").acquire();
        CompletableFuture<Lease> waiting = waiting(far);
        link.withholdReplies();
        held.release();
        Await.until("the message was sent", RedisTests.SOON, () -> link.heldBytes() > 0);
        long start = System.nanoTime();
        link.cut();
        link.heal();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("not by the fallback timer")
                .isLessThan(Duration.ofMillis(4_500));
        next.close();
    }

    /** As after a failover that lost the grant. The next renewal would be due a third of the lease later. */
    @Test
    void S07_aGrantThatIsMissingAfterAReconnectIsLostAtOnce() throws Exception {
        LockOptions tenMinutes = LockOptions.defaults().leaseDuration(Duration.ofMinutes(10));
        Lease lost = far.named("x", tenMinutes).acquire();
        Lease stays = far.named("y", tenMinutes).acquire();
        link.cut();
        redis.call("DEL", "lock:x");
        redis.call("PEXPIRE", "lock:y", "60000");
        link.heal();
        LossReason why = lost.lost().get(30, TimeUnit.SECONDS);
        assertThat(why.kind()).isEqualTo(LossReason.Kind.REMOVED);
        Await.until(
                "the other is renewed",
                RedisTests.SOON,
                () -> (Long) Objects.requireNonNull(redis.call("PTTL", "lock:y")) > 60_000);
        assertThat(stays.isHeld()).isTrue();
        stays.close();
    }

    /** One script renews many grants, instead of one script each. */
    @Test
    void S07_allGrantsAreRenewedInFewBatchesAfterAReconnect() throws Exception {
        LockOptions tenMinutes = LockOptions.defaults().leaseDuration(Duration.ofMinutes(10));
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            held.add(far.named("many " + i, tenMinutes).acquire());
        }
        redis.call("PEXPIRE", "lock:many%20299", "60000");
        redis.resetCommandCalls();
        link.resetConnections();
        Await.until(
                "the last one is renewed",
                RedisTests.SOON,
                () -> (Long) Objects.requireNonNull(redis.call("PTTL", "lock:many%20299")) > 60_000);
        Map<String, Long> calls = redis.commandCalls();
        assertThat(calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L))
                .as("scripts with 250 grants each, and one with its text")
                .isBetween(2L, 4L);
        held.forEach(Lease::close);
    }

    /** The withdrawal is given up after one lease, but the queue entry would exist for much longer. */
    @Test
    void S10_aQueueEntryThatCouldNotBeWithdrawnIsWithdrawnAfterTheReconnect() throws Exception {
        Lease held = near.named("x").acquire();
        CompletableFuture<Lease> waiting = far.named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(1)))
                .acquireAsync();
        Await.until("it is queued", RedisTests.SOON, () -> RedisTests.waiters(redis, "x") == 1);
        link.cut();
        long start = System.nanoTime();
        waiting.cancel(true);
        Await.until(
                "two lease durations have passed", RedisTests.SOON, () -> System.nanoTime() - start > 2_500_000_000L);
        assertThat(RedisTests.waiters(redis, "x")).isEqualTo(1);
        link.heal();
        Await.until("it is withdrawn", Duration.ofSeconds(5), () -> RedisTests.waiters(redis, "x") == 0);
        held.close();
    }

    @Test
    void S10_aWaiterThatGivesUpWhileTheMessageIsPendingHandsTheLockOff() throws Exception {
        Lease held = near.named("x").acquire();
        CompletableFuture<Lease> first = waiting(far);
        CompletableFuture<Lease> second = waiting(near);
        link.withholdReplies();
        held.release();
        Await.until("the message was sent", RedisTests.SOON, () -> link.heldBytes() > 0);
        first.cancel(true);
        Lease next = second.get(10, TimeUnit.SECONDS);
        link.heal();
        assertThat(next.isHeld()).isTrue();
        assertThat(near.named("x").tryAcquire()).isEmpty();
        next.close();
    }
}
