// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a holder is notified if an operator deletes its grant with the store's own tools.
 *
 * <p>Needs {@link Faults#deleteGrant}.
 */
interface DeletionContract extends Contract {
    /** One scenario for S03, S05, S06, S07 and S11. */
    @ParameterizedTest
    @EnumSource
    default void S07_aHolderWhoseEntryWasDeletedIsNotifiedOnceAndTheNextIsGranted(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        BackendUnderTest backend = fixture().backend();
        LockOptions options = fixture().leaseToRemove(one);
        Lease stale = style.acquire(one.named("x", options));
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        CompletableFuture<Long> notifiedAt = new CompletableFuture<>();
        stale.lost().thenAccept(reason -> {
            losses.add(reason);
            notifiedAt.complete(System.nanoTime());
        });
        Future<Lease> waiting = fixture().start(() -> style.acquire(two.named("x", options)));
        ContractTestFixture.awaitWaiters(two, "x", 1);
        long deleted = System.nanoTime();
        fixture().faultInjector().deleteGrant("x", "S03, S05, S06, S07, S11 after a deletion");
        Lease successor = ApiStyle.result(waiting);
        assertThat(Duration.ofNanos(ApiStyle.result(notifiedAt) - deleted))
                .as("from the deletion to the notification")
                .isLessThan(backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT));
        assertThat(stale.isHeld()).as("S06").isFalse();
        ContractTestFixture.assertTokensIncrease(one, stale, successor);
        for (int i = 0; i < 2; i++) {
            assertThat(style.release(stale)).as("S05").isEqualTo(ReleaseOutcome.LOST);
            assertThat(one.named("x").tryAcquire()).as("the successor's lock").isEmpty();
        }
        assertThat(successor.isHeld()).isTrue();
        assertThat(style.release(successor)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(two, "x");
        assertThat(stale.isHeld()).as("S06").isFalse();
        assertThat(losses).singleElement().extracting(LossReason::kind).isEqualTo(LossReason.Kind.REMOVED);
    }

    /** The release may be sent before the holder is notified, when the same client may already have the next grant. */
    @ParameterizedTest
    @EnumSource
    default void S05_aReleaseRightAfterADeletionIsLostAndSparesTheNextGrant(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        for (int i = 0; i < 3; i++) {
            Lease stale = style.acquire(one.named("x"));
            fixture().faultInjector().deleteGrant("x", "S05 right after a deletion");
            Lease next = style.tryAcquire((i % 2 == 0 ? one : two).named("x"), ContractTestFixture.LONG)
                    .orElseThrow();
            assertThat(style.release(stale)).isEqualTo(ReleaseOutcome.LOST);
            assertThat(two.named("x").tryAcquire()).as("the next holder's lock").isEmpty();
            assertThat(next.isHeld()).isTrue();
            assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** The grant has no successor, and the holder has not heard of the deletion, unless the store sends notifications. */
    @ParameterizedTest
    @EnumSource
    default void S05_aReleaseOfADeletedGrantReportsLost(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Lease deleted = style.acquire(client.named("x"));
        Lease kept = style.acquire(client.named("y"));
        fixture().removeGrant("x", other, "S05 after a deletion");
        assertThat(style.release(deleted)).isEqualTo(ReleaseOutcome.LOST);
        assertThat(style.release(deleted)).isEqualTo(ReleaseOutcome.LOST);
        assertThat(deleted.isHeld()).isFalse();
        assertThat(style.release(kept)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** The next grant is of the same client, whose cleanup of the deleted one must not end it. */
    @Test
    default void S05_theCleanupOfADeletedGrantSparesTheNextGrantOfItsClient() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockOptions options = fixture().shortLease(client);
        Lease deleted = client.named("x", options).acquire();
        CompletableFuture<Lease> waiting = client.named("x", options).acquireAsync();
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().removeGrant("x", other, "S05 after a deletion");
        Lease next = ApiStyle.result(waiting);
        BackendUnderTest backend = fixture().backend();
        ContractTestFixture.eventually(
                "S07: the loss is announced",
                backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT),
                () -> deleted.lost().isDone());
        assertThat(deleted.release()).isEqualTo(ReleaseOutcome.LOST);
        CompletableFuture<Lease> last = other.named("x").acquireAsync();
        ContractTestFixture.throughout("one lease passes", backend.lease(), () -> {
            assertThat(last.isDone() && next.isHeld())
                    .as("S01: two leases are held")
                    .isFalse();
            assertThat(next.isHeld())
                    .as("S05: the next lease of the same client")
                    .isTrue();
        });
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(ApiStyle.result(last).release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
}
