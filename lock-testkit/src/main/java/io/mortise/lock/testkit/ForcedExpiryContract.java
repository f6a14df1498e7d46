// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that leases are lost and waiters continue if the store expires a connected client's session.
 *
 * <p>Needs {@link Faults#expireSession}.
 */
interface ForcedExpiryContract extends Contract {
    /** One scenario for S03, S05, S06, S07 and S11. */
    @ParameterizedTest
    @EnumSource
    @ResourceLock(Contract.SERVER)
    default void S06_anExpiredGrantStaysLost(ApiStyle style) throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        Lease old = style.acquire(expired.named("x", fixture().shortLease(expired)));
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        old.lost().thenAccept(losses::add);
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().expireSession(expired, "S03, S05, S06, S07, S11 over expiry by the store");
        Duration bound =
                fixture().backend().lease().plus(ContractTestFixture.PROMPT); // within which every backend renews
        ContractTestFixture.eventually("S07: the holder is notified", bound, () -> !losses.isEmpty());
        assertThat(old.isHeld()).isFalse();
        Lease next = ApiStyle.result(waiting);
        assertThat(style.release(old)).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(third.named("x").tryAcquire()).as("the successor's lock").isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease again = style.acquire(expired.named("x"));
        ContractTestFixture.assertTokensIncrease(expired, old, next, again);
        assertThat(again.isHeld()).isTrue();
        assertThat(old.isHeld())
                .as("S06, while another lease of the client is held")
                .isFalse();
        assertThat(style.release(again)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
        // A store that only finds that the grant is missing cannot report the reason.
        assertThat(losses)
                .singleElement()
                .extracting(LossReason::kind)
                .isIn(LossReason.Kind.EXPIRED, LossReason.Kind.SESSION_ENDED, LossReason.Kind.REMOVED);
    }

    /** A waiter is not lost with the session: if its queue entry was deleted with the session, it creates a new one. */
    @ParameterizedTest
    @EnumSource
    @ResourceLock(Contract.SERVER)
    default void S11_aWaiterOutlivesItsSession(ApiStyle style) throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        Lease held = style.acquire(other.named("x"));
        Future<Lease> waiting = fixture().start(() -> style.acquire(expired.named("x")));
        ContractTestFixture.awaitWaiters(other, "x", 1);
        Lease own = style.acquire(expired.named("y", fixture().shortLease(expired)));
        fixture().faultInjector().expireSession(expired, "S11 for the waiters of an expired session");
        ContractTestFixture.await(own.lost());
        assertThat(waiting.isDone())
                .as("granted while another client holds the lock")
                .isFalse();
        assertThat(style.release(held)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease granted = ApiStyle.result(waiting);
        assertThat(granted.isHeld())
                .as("the waiter's lease after its first session has ended")
                .isTrue();
        ContractTestFixture.assertTokensIncrease(other, held, granted);
        assertThat(style.release(granted)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** They are so many that a holder which is told of one loss with each renewal would not be told of all in time. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S07_everyLeaseOfAnExpiredSessionIsLost() throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        BackendUnderTest backend = fixture().backend();
        // If the store sends notifications, the lease must be so long that no renewal detects the loss first.
        boolean pushed = other.capabilities().contains(Capability.PER_LOCK_LEASE)
                && backend.removalNotifiedWithin().compareTo(backend.lease()) < 0;
        LockOptions options = pushed ? LockOptions.defaults() : fixture().shortLease(expired);
        Duration bound = (pushed ? backend.removalNotifiedWithin() : backend.lease()).plus(ContractTestFixture.PROMPT);
        List<Lease> leases = fixture().acquireAll(expired, "x", 40, options);
        AtomicInteger losses = new AtomicInteger();
        leases.forEach(lease -> lease.lost().thenRun(losses::incrementAndGet));
        Lease kept = other.named("of another client", options).acquire();
        fixture().faultInjector().expireSession(expired, "S07 for many leases of a session");
        ContractTestFixture.eventually(
                "S07: the loss of each of " + leases.size() + " leases is announced",
                bound,
                () -> losses.get() == leases.size());
        for (Lease lease : leases.subList(0, 3)) {
            assertThat(lease.isHeld()).isFalse();
            Lease next = other.named(lease.lockName())
                    .tryAcquire(backend.takeoverWithin())
                    .orElseThrow();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        assertThat(kept.isHeld())
                .as("the lease of the client that nothing happened to")
                .isTrue();
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
}
