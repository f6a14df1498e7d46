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

/** Contract for a link that delivers nothing any more, without a reset. Needs {@link Faults#link}. */
interface SilentLinkContract extends Contract {
    ClientOptions SHORT_TIMEOUTS = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));

    /** One story, since each lease that runs out costs its duration: S02, S03, S05, S06, S07 and S11. */
    @ParameterizedTest
    @EnumSource
    default void S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted(ApiStyle style) throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        ContractFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Lease old = style.acquire(silent.named("x", fixture().shortLease(silent)));
        CompletableFuture<Void> warned = new CompletableFuture<>();
        old.onExpiring(fixture().backend().lease().multipliedBy(3).dividedBy(4), () -> warned.complete(null));
        CompletableFuture<Lease> waiting =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        fixture().nemesis().silence(silent, "S02, S03, S05, S06, S07, S11 over expiry");
        AtomicReference<Duration> left = new AtomicReference<>(old.remaining());
        ContractFixture.eventually(
                "S11: the next is granted", fixture().backend().takeoverWithin(), () -> {
                    boolean granted = waiting.isDone();
                    assertThat(granted && old.isHeld()).as("S02: two believe").isFalse();
                    Duration remaining = old.remaining();
                    left.updateAndGet(
                            least -> remaining.isZero() || least.compareTo(remaining) < 0 ? least : remaining);
                    return granted;
                });
        assertThat(left.get())
                .as("S02: least time left before the end")
                .isLessThan(fixture().backend().lease().multipliedBy(9).dividedBy(10));
        Lease next = ApiStyle.result(waiting);
        assertThat(warned).as("onExpiring").isCompleted();
        assertThat(ContractFixture.await(old.lost()).kind())
                .as("S07")
                .isIn(LossReason.Kind.EXPIRED, LossReason.Kind.SESSION_ENDED);
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(next.fencingToken()).as("S03").isGreaterThan(old.fencingToken());
        }
        fixture().nemesis().heal(silent);
        assertThat(style.release(old)).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(old.isHeld()).as("S06").isFalse();
        assertThat(third.named("x").tryAcquire())
                .as("S05: the successor's lock")
                .isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        // The healed client goes on with a new session if it needs one.
        Lease again = style.tryAcquire(silent.named("x"), ContractFixture.LONG).orElseThrow();
        assertThat(style.release(again)).isNotEqualTo(ReleaseOutcome.LOST);
    }

    /** Where each grant has a lease of its own nothing but its deadline ends it; a session may end sooner with its connection. */
    @Test
    default void S07_aRenewalWithoutAnAnswerIsNoLoss() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        ContractFixture.onlyIf(client, Capability.PER_LOCK_LEASE);
        Duration duration = fixture().backend().lease().multipliedBy(3); // with time to spare when a renewal has ended
        Lease lease = client.named("x", LockOptions.defaults().leaseDuration(duration))
                .acquire();
        List<LossReason> told = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(told::add);
        fixture().nemesis().cut(client, "S07 for a renewal that fails");
        long cut = System.nanoTime();
        Duration renewed = duration.multipliedBy(11).dividedBy(20); // every third of it, at the latest
        ContractFixture.eventually("a renewal has ended", ContractFixture.LONG, () -> {
            assertThat(lease.isHeld())
                    .as("held %s after the cut", DurationAssertions.since(cut))
                    .isTrue();
            return DurationAssertions.since(cut).compareTo(renewed) > 0;
        });
        assertThat(told).as("losses told").isEmpty();
        fixture().nemesis().heal(client);
        assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST);
    }

    @ParameterizedTest
    @EnumSource
    default void S09_waitsOnASilentStoreAreBounded(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().nemesis().silence(client, "S09 on a silent store");
        for (Duration maxWait : new Duration[] {Duration.ZERO, Duration.ofMillis(300), Duration.ofMillis(1500)}) {
            Duration bound = maxWait.isZero() ? SHORT_TIMEOUTS.requestTimeout() : maxWait;
            long start = System.nanoTime();
            assertThatThrownBy(() -> style.tryAcquire(lock, maxWait), "S15: no answer is not busy")
                    .isInstanceOf(BackendUnavailableException.class);
            assertThat(DurationAssertions.since(start))
                    .as("a wait of " + maxWait)
                    .isLessThan(bound.plus(ContractFixture.PROMPT));
        }
    }

    @Test
    default void S10_anInterruptReturnsAtOnceThoughTheStoreIsSilent() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().nemesis().silence(client, "S10 on a silent store");
        fixture().assertInterruptReturnsAtOnce(lock);
    }

    /** What the store may get to see late must not stay: the lock is to be had within one lease of the healing. */
    @Test
    default void S08_requestsThatArriveLateLeaveNothing() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        fixture().nemesis().silence(client, "S08 unknown outcomes");
        CompletableFuture<Lease> cancelled =
                client.named("x", fixture().shortLease(client)).acquireAsync();
        assertThatThrownBy(() -> client.named("x", fixture().shortLease(client)).tryAcquire(Duration.ofMillis(100)))
                .isInstanceOf(BackendUnavailableException.class);
        cancelled.cancel(true);
        fixture().nemesis().heal(client);
        // Not instead of waiting for it: what arrives late may arrive after this check.
        long healed = System.nanoTime();
        ContractFixture.eventually(
                "nothing stays", fixture().backend().takeoverWithin().plusSeconds(1), () -> {
                    if (DurationAssertions.since(healed).compareTo(ContractFixture.PROMPT) < 0) {
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
        fixture().nemesis().silence(client, "S15");
        long start = System.nanoTime();
        assertThatThrownBy(() -> style.acquire(client.named("asked-in-vain")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("asked-in-vain");
        assertThat(DurationAssertions.since(start)).as("until it failed").isLessThan(Duration.ofSeconds(5));
    }

    @Test
    default void S16_closeOnASilentStoreIsBounded() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        Lease held = client.named("x", fixture().shortLease(client)).acquire();
        fixture().nemesis().silence(client, "S16 on a silent store");
        CompletableFuture<Lease> waiting = client.named("y").acquireAsync();
        long start = System.nanoTime();
        client.close();
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(SHORT_TIMEOUTS.requestTimeout().multipliedBy(2).plus(ContractFixture.PROMPT));
        assertThat(held.isHeld()).isFalse();
        ContractFixture.eventually("the waiter failed", ContractFixture.PROMPT, waiting::isCompletedExceptionally);
        if (other.capabilities().contains(Capability.CRASH_RELEASE)) {
            assertThat(other.named("x").tryAcquire(fixture().backend().takeoverWithin()))
                    .as("the lock of the client that could not say goodbye")
                    .hasValueSatisfying(Lease::close);
        }
    }
}
