// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a release removes only its own grant, renewals never recreate a grant, and losses are reported once.
 *
 * <p>Rules S05, S06, S07.
 */
interface ReleaseContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S05_releaseIsIdempotentAndSparesTheSuccessor(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease first = style.acquire(one.named("x"));
        assertThat(style.release(first)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease second = style.acquire(two.named("x"));
        for (int i = 0; i < 3; i++) {
            assertThat(style.release(first)).as("released again").isEqualTo(ReleaseOutcome.RELEASED);
        }
        first.close();
        assertThat(one.named("x").tryAcquire()).as("the successor's lock").isEmpty();
        assertThat(second.isHeld()).isTrue();
        assertThat(style.release(second)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @ParameterizedTest
    @EnumSource
    default void S05_aStaleReleaseAfterATakeoverSparesTheSuccessor(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease stale = style.acquire(one.named("x"));
        fixture().forceRelease("x", two, "S05");
        Lease successor =
                style.tryAcquire(two.named("x"), ContractTestFixture.LONG).orElseThrow();
        assertThat(style.release(stale)).isEqualTo(ReleaseOutcome.LOST);
        assertThat(one.named("x").tryAcquire()).as("the successor's lock").isEmpty();
        assertThat(successor.isHeld()).isTrue();
        assertThat(style.release(successor)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** RELEASED means that the release has been executed, not that it will be. */
    @ParameterizedTest
    @EnumSource
    default void S05_afterAReleaseTheLockIsFreeAtOnce(ApiStyle style) throws Exception {
        DistributedLock one = fixture().client().named("x");
        DistributedLock two = fixture().client().named("x");
        Lease held = style.acquire(one);
        for (int i = 0; i < 10; i++) {
            assertThat(style.release(held)).isEqualTo(ReleaseOutcome.RELEASED);
            Optional<Lease> next = style.tryAcquire(i % 2 == 0 ? two : one, Duration.ZERO);
            assertThat(next).as("one attempt after release %s", i).isPresent();
            held = next.orElseThrow();
        }
        held.close();
    }

    /** Waiter and holder are of the same client, so a store entry that names only the client could not distinguish them. */
    @ParameterizedTest
    @EnumSource
    default void S05_aWithdrawalSparesALeaseOfTheSameClient(ApiStyle style) throws Exception {
        DistributedLock lock = fixture().client().named("x");
        DistributedLock other = fixture().client().named("x");
        Lease held = style.acquire(lock);
        assertThat(style.tryAcquire(lock, Duration.ZERO)).isEmpty();
        ContractTestFixture.assertWaitFails(style, lock, Duration.ofMillis(100));
        lock.acquireAsync().cancel(true);
        ContractTestFixture.assertWaitFails(style, other, Duration.ofMillis(200));
        assertThat(held.isHeld()).isTrue();
        assertThat(style.release(held)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** The client renews until it detects the loss; none of these renewals may create the grant again. */
    @Test
    default void S06_aRemovedGrantStaysRemoved() throws Exception {
        LockClient client = fixture().client();
        LockClient operator = fixture().client();
        BackendUnderTest backend = fixture().backend();
        Lease lease = client.named("x", fixture().shortLease(client)).acquire();
        fixture().forceRelease("x", operator, "S06");
        Duration bound = backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("the old holder detects its loss", bound, () -> !lease.isHeld());
        ContractTestFixture.throughout("one lease duration passes", backend.lease(), () -> {
            assertThat(lease.isHeld()).as("held again").isFalse();
            if (operator.admin().isPresent()) {
                assertThat(ContractTestFixture.status(operator.admin().get(), "x")
                                .holders())
                        .as("holders")
                        .isEmpty();
            }
        });
        fixture().assertFree(client, "x");
    }

    @Test
    default void S07_theLossOfOneLeaseSparesTheOthers() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Lease lost = client.named("lost", fixture().shortLease(client)).acquire();
        Lease kept = client.named("kept", fixture().shortLease(client)).acquire();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        kept.lost().thenAccept(losses::add);
        fixture().forceRelease("lost", other, "S07");
        Duration bound = fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("the loss is detected", bound, () -> !lost.isHeld());
        assertThat(other.named("kept").tryAcquire()).as("the other lock").isEmpty();
        assertThat(kept.isHeld()).as("the other lease").isTrue();
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(losses).isEmpty();
    }

    /** The holder's client also asks for the lock in vain, and waits for it; its waiter is the next holder, and loses it too. */
    @Test
    default void S07_aLossIsAnnouncedToItsHolderAndToNoOtherRequestOfItsClient() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        BackendUnderTest backend = fixture().backend();
        Duration bound = backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        LockOptions options = fixture().leaseToRemove(client);
        Lease holder = client.named("x", options).acquire();
        List<List<LossReason>> losses = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            List<LossReason> ofHolder = new CopyOnWriteArrayList<>();
            losses.add(ofHolder);
            holder.lost().thenAccept(ofHolder::add);
            for (LockClient asking : List.of(client, other)) {
                assertThat(asking.named("x").tryAcquire()).isEmpty();
                ContractTestFixture.assertWaitFails(ApiStyle.SYNC, asking.named("x"), Duration.ofMillis(100));
            }
            CompletableFuture<Lease> waiting = client.named("x", options).acquireAsync();
            ContractTestFixture.awaitWaiters(other, "x", 1);
            fixture().forceRelease("x", other, "S07 for requests of the holder's client");
            ContractTestFixture.eventually("S07: the loss is announced", bound, () -> !ofHolder.isEmpty());
            holder = ApiStyle.result(waiting);
        }
        assertThat(holder.isHeld()).as("the last lease").isTrue();
        assertThat(holder.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(holder.lost()).isNotDone();
        assertThat(losses)
                .allSatisfy(ofHolder ->
                        assertThat(ofHolder).extracting(LossReason::kind).containsExactly(LossReason.Kind.REMOVED));
        fixture().assertFree(client, "x");
    }

    @Test
    default void S07_aForcedReleaseIsAnnouncedOnceWithItsReason() throws Exception {
        LockClient client = fixture().client();
        BackendUnderTest backend = fixture().backend();
        Lease lease = client.named("x", fixture().leaseToRemove(client)).acquire();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        fixture().forceRelease("x", fixture().client(), "S07");
        Duration bound = backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("the loss is announced", bound, () -> !losses.isEmpty());
        assertThat(lease.isHeld()).isFalse();
        assertThat(losses).singleElement().extracting(LossReason::kind).isEqualTo(LossReason.Kind.REMOVED);
        assertThatThrownBy(lease::ensureHeld)
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        e -> assertThat(e.reason().kind()).isEqualTo(LossReason.Kind.REMOVED));
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        lease.lost().thenAccept(losses::add); // a late listener is notified too
        ContractTestFixture.eventually(
                "a late listener is notified", ContractTestFixture.PROMPT, () -> losses.size() == 2);
        fixture().assertFree(client, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S07_nothingIsAnnouncedAfterARelease(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 20; i++) {
            Lease lease = style.acquire(one.named("x"));
            lease.lost().thenAccept(losses::add);
            assertThat(style.release(lease)).isEqualTo(ReleaseOutcome.RELEASED);
            style.release(style.acquire(two.named("x"))); // time for delayed effects of the release
        }
        one.close();
        assertThat(losses).isEmpty();
    }

    @Test
    default void S07_theMaximumHoldEndsALeaseThatIsRenewed() throws Exception {
        LockClient client = fixture().client();
        LockOptions options = LockOptions.defaults().maxHold(Duration.ofMillis(200));
        Lease lease = client.named("x", options).acquire();
        assertThat(lease.remaining()).isLessThanOrEqualTo(Duration.ofMillis(200));
        assertThat(ContractTestFixture.await(lease.lost()).kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        fixture().assertFree(fixture().client(), "x");
    }
}
