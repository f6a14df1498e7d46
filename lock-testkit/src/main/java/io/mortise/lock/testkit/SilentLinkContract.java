// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that leases expire and waits stay bounded if a connection stays open but delivers nothing.
 *
 * <p>Needs {@link Faults#link}.
 */
interface SilentLinkContract extends Contract {
    ClientOptions SHORT_TIMEOUTS = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));

    /** One scenario for S02, S03, S05, S06, S07 and S11, since each expiring lease takes its whole duration. */
    @ParameterizedTest
    @EnumSource
    default void S02_aSilentHoldersLeaseEndsBeforeTheNextGrant(ApiStyle style) throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Lease old = style.acquire(silent.named("x", fixture().shortLease(silent)));
        CompletableFuture<Void> warned = new CompletableFuture<>();
        old.onExpiring(fixture().backend().lease().multipliedBy(3).dividedBy(4), () -> warned.complete(null));
        CompletableFuture<Lease> waiting =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        fixture().faultInjector().silence(silent, "S02, S03, S05, S06, S07, S11 over expiry");
        AtomicReference<Duration> left = new AtomicReference<>(old.remaining());
        ContractTestFixture.eventually(
                "S11: the next waiter is granted the lock", fixture().backend().takeoverWithin(), () -> {
                    boolean granted = waiting.isDone();
                    assertThat(granted && old.isHeld())
                            .as("S02: two leases are held")
                            .isFalse();
                    Duration remaining = old.remaining();
                    left.updateAndGet(
                            least -> remaining.isZero() || least.compareTo(remaining) < 0 ? least : remaining);
                    return granted;
                });
        assertThat(left.get())
                .as("S02: smallest remaining() before the end")
                .isLessThan(fixture().backend().lease().multipliedBy(9).dividedBy(10));
        Lease next = ApiStyle.result(waiting);
        assertThat(warned).as("onExpiring").isCompleted();
        assertThat(ContractTestFixture.await(old.lost()).kind())
                .as("S07")
                .isIn(LossReason.Kind.EXPIRED, LossReason.Kind.SESSION_ENDED);
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(next.fencingToken()).as("S03").isGreaterThan(old.fencingToken());
        }
        fixture().faultInjector().heal(silent);
        assertThat(style.release(old)).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(old.isHeld()).as("S06").isFalse();
        assertThat(third.named("x").tryAcquire())
                .as("S05: the successor's lock")
                .isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        // The client continues after the link is healed, with a new session if it needs one.
        Lease again =
                style.tryAcquire(silent.named("x"), ContractTestFixture.LONG).orElseThrow();
        assertThat(style.release(again)).isNotEqualTo(ReleaseOutcome.LOST);
    }

    /** A grant with its own lease ends only at its deadline; a session may end earlier, with its connection. */
    @Test
    default void S07_aRenewalWithoutAReplyIsNoLoss() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        ContractTestFixture.onlyIf(client, Capability.PER_LOCK_LEASE);
        // So long that the lease is still valid after a failed renewal.
        Duration duration = fixture().backend().lease().multipliedBy(3);
        Lease lease = client.named("x", LockOptions.defaults().leaseDuration(duration))
                .acquire();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        fixture().faultInjector().cut(client, "S07 for a renewal that fails");
        long cut = System.nanoTime();
        Duration renewed =
                duration.multipliedBy(11).dividedBy(20); // renewals are sent at least every third of the duration
        ContractTestFixture.eventually("a renewal has failed", ContractTestFixture.LONG, () -> {
            assertThat(lease.isHeld())
                    .as(
                            "held %s after the cut, with a lease of %s; renewals answered: %s; reported losses: %s",
                            DurationAssertions.since(cut),
                            duration,
                            fixture().recorder().renewals(client),
                            losses)
                    .isTrue();
            return DurationAssertions.since(cut).compareTo(renewed) > 0;
        });
        assertThat(losses).as("reported losses").isEmpty();
        fixture().faultInjector().heal(client);
        assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST);
    }

    @ParameterizedTest
    @EnumSource
    default void S09_waitsOnASilentStoreAreBounded(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().faultInjector().silence(client, "S09 on a silent store");
        for (Duration maxWait : new Duration[] {Duration.ZERO, Duration.ofMillis(300), Duration.ofMillis(1500)}) {
            Duration bound = maxWait.isZero() ? SHORT_TIMEOUTS.requestTimeout() : maxWait;
            long start = System.nanoTime();
            assertThatThrownBy(() -> style.tryAcquire(lock, maxWait), "S15: no reply must not be reported as busy")
                    .isInstanceOf(BackendUnavailableException.class);
            assertThat(DurationAssertions.since(start))
                    .as("a wait of " + maxWait)
                    .isLessThan(bound.plus(ContractTestFixture.PROMPT));
        }
    }

    @Test
    default void S10_anInterruptReturnsAtOnceThoughTheStoreIsSilent() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().faultInjector().silence(client, "S10 on a silent store");
        fixture().assertInterruptReturnsAtOnce(lock);
    }

    /**
     * Requests that reach the store late must leave no grant: the lock can be acquired within one lease after the link is
     * healed.
     */
    @Test
    default void S08_requestsThatArriveLateLeaveNoOrphan() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        fixture().faultInjector().silence(client, "S08 unknown outcomes");
        CompletableFuture<Lease> cancelled =
                client.named("x", fixture().shortLease(client)).acquireAsync();
        assertThatThrownBy(() -> client.named("x", fixture().shortLease(client)).tryAcquire(Duration.ofMillis(100)))
                .isInstanceOf(BackendUnavailableException.class);
        cancelled.cancel(true);
        fixture().faultInjector().heal(client);
        // The check starts only after a delay, since late requests may arrive after it otherwise.
        long healed = System.nanoTime();
        ContractTestFixture.eventually(
                "the lock is free", fixture().backend().takeoverWithin().plusSeconds(1), () -> {
                    if (DurationAssertions.since(healed).compareTo(ContractTestFixture.PROMPT) < 0) {
                        return false;
                    }
                    return other.named("x").tryRun(Duration.ZERO, lease -> lease.ensureHeld());
                });
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S15_anUnboundedWaitOnASilentStoreFails(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS.unavailableAfter(Duration.ofSeconds(1)));
        fixture().faultInjector().silence(client, "S15");
        long start = System.nanoTime();
        assertThatThrownBy(() -> style.acquire(client.named("unreachable-store")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("unreachable-store");
        assertThat(DurationAssertions.since(start)).as("until it failed").isLessThan(Duration.ofSeconds(5));
    }

    @Test
    default void S16_closeOnASilentStoreIsBounded() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        Lease held = client.named("x", fixture().shortLease(client)).acquire();
        fixture().faultInjector().silence(client, "S16 on a silent store");
        CompletableFuture<Lease> waiting = client.named("y").acquireAsync();
        long start = System.nanoTime();
        client.close();
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(SHORT_TIMEOUTS.requestTimeout().multipliedBy(2).plus(ContractTestFixture.PROMPT));
        assertThat(held.isHeld()).isFalse();
        ContractTestFixture.eventually(
                "the waiter failed", ContractTestFixture.PROMPT, waiting::isCompletedExceptionally);
        if (other.capabilities().contains(Capability.CRASH_RELEASE)) {
            assertThat(other.named("x").tryAcquire(fixture().backend().takeoverWithin()))
                    .as("the lock of the client that could not release it")
                    .hasValueSatisfying(Lease::close);
        }
    }
}
