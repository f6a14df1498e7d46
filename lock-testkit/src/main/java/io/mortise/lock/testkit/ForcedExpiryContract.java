// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract when the store ends a session or leases whose link is healthy. Needs {@link Faults#expireSession}. */
interface ForcedExpiryContract extends Contract {
    /** One story: S03, S05, S06, S07 and S11. */
    @ParameterizedTest
    @EnumSource
    default void S06_whatTheStoreExpiredIsLostForGood(ApiStyle style) throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        Lease old = style.acquire(expired.named("x", fixture().shortLease(expired)));
        List<LossReason> told = new CopyOnWriteArrayList<>();
        old.lost().thenAccept(told::add);
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractFixture.awaitWaiters(other, "x", 1);
        fixture().nemesis().expireSession(expired, "S03, S05, S06, S07, S11 over expiry by the store");
        Duration bound = fixture().backend().lease().plus(ContractFixture.PROMPT); // within which every backend renews
        ContractFixture.eventually("S07: the holder is told", bound, () -> !told.isEmpty());
        assertThat(old.isHeld()).isFalse();
        Lease next = ApiStyle.result(waiting);
        assertThat(style.release(old)).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(third.named("x").tryAcquire()).as("the successor's lock").isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease again = style.acquire(expired.named("x"));
        if (expired.capabilities().contains(Capability.FENCING)) {
            assertThat(next.fencingToken()).as("S03").isGreaterThan(old.fencingToken());
            assertThat(again.fencingToken()).as("S03").isGreaterThan(next.fencingToken());
        }
        assertThat(again.isHeld()).isTrue();
        assertThat(old.isHeld())
                .as("S06, while another lease of the client is held")
                .isFalse();
        assertThat(style.release(again)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
        // A store that merely no longer has the grant cannot say why.
        assertThat(told)
                .singleElement()
                .extracting(LossReason::kind)
                .isIn(LossReason.Kind.EXPIRED, LossReason.Kind.SESSION_ENDED, LossReason.Kind.REMOVED);
    }

    /** A waiter is no lease: where its place in the queue ended with the session, it takes a new one. */
    @ParameterizedTest
    @EnumSource
    default void S11_aWaiterOutlivesItsSession(ApiStyle style) throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        Lease held = style.acquire(other.named("x"));
        Future<Lease> waiting = fixture().start(() -> style.acquire(expired.named("x")));
        ContractFixture.awaitWaiters(other, "x", 1);
        Lease own = style.acquire(expired.named("y", fixture().shortLease(expired)));
        fixture().nemesis().expireSession(expired, "S11 for the waiters of an expired session");
        ContractFixture.await(own.lost());
        assertThat(waiting.isDone()).as("granted while another holds it").isFalse();
        assertThat(style.release(held)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease granted = ApiStyle.result(waiting);
        assertThat(granted.isHeld()).as("a grant on a session that has ended").isTrue();
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(granted.fencingToken()).isGreaterThan(held.fencingToken());
        }
        assertThat(style.release(granted)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }
}
