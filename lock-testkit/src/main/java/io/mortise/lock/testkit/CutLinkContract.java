// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract for connections that are reset and refused. Needs a {@link Faults#link} that can be cut. */
interface CutLinkContract extends Contract {
    ClientOptions RIDES_IT_OUT =
            ClientOptions.defaults().requestTimeout(Duration.ofMillis(500)).unavailableAfter(ContractFixture.LONG);

    @ParameterizedTest
    @EnumSource
    default void S07_aShortCutKeepsTheLeaseOrItsLossIsTold(ApiStyle style) throws Exception {
        LockClient client = fixture().client(RIDES_IT_OUT);
        LockClient other = fixture().client();
        Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
        CompletableFuture<LossReason> lost = lease.lost();
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractFixture.awaitWaiters(other, "x", 1);
        fixture().nemesis().cut(client, "S02, S05, S07 over a short cut");
        Duration lasting = fixture().backend().lease().dividedBy(10);
        ContractFixture.eventually("the cut has lasted", ContractFixture.LONG, ContractFixture.timePasses(lasting));
        fixture().nemesis().heal(client);
        // Whatever became of the lease, its client works again.
        style.release(style.tryAcquire(client.named("y"), ContractFixture.LONG).orElseThrow());
        assertThat(waiting.isDone() && lease.isHeld()).as("S02: two believe").isFalse();
        ReleaseOutcome outcome = style.release(lease);
        ContractFixture.assertHonest(outcome, lease);
        Lease next = ApiStyle.result(waiting);
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(next.fencingToken()).as("S03").isGreaterThan(lease.fencingToken());
        }
        assertThat(lost.isDone()).as("told of a loss").isEqualTo(outcome == ReleaseOutcome.LOST);
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** One lock is released while the link is cut, so that no hint can come, the other one afterwards. */
    @ParameterizedTest
    @EnumSource
    default void S11_waitersSurviveAShortCut(ApiStyle style) throws Exception {
        LockClient client = fixture().client(RIDES_IT_OUT);
        LockClient other = fixture().client();
        Lease during = other.named("during").acquire();
        Lease after = other.named("after").acquire();
        Future<Lease> one = fixture().start(() -> style.acquire(client.named("during")));
        Future<Lease> two = fixture().start(() -> style.acquire(client.named("after")));
        ContractFixture.awaitWaiters(other, "during", 1);
        ContractFixture.awaitWaiters(other, "after", 1);
        fixture().nemesis().cut(client, "S11 for waiters over a short cut");
        assertThat(style.release(during)).isEqualTo(ReleaseOutcome.RELEASED);
        Duration lasting = fixture().backend().lease().dividedBy(10);
        ContractFixture.eventually("the cut has lasted", ContractFixture.LONG, ContractFixture.timePasses(lasting));
        assertThat(two.isDone()).isFalse();
        fixture().nemesis().heal(client);
        assertThat(style.release(after)).isEqualTo(ReleaseOutcome.RELEASED);
        for (Future<Lease> waiting : List.of(one, two)) {
            Lease lease = ApiStyle.result(waiting);
            assertThat(lease.isHeld()).isTrue();
            assertThat(style.release(lease))
                    .isNotEqualTo(ReleaseOutcome.LOST); // unknown where the store is slow for once
            fixture().assertFree(other, lease.lockName());
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S08_aReleaseDuringACutIsBoundedAndCleanedUp(ApiStyle style) throws Exception {
        LockClient client = fixture().client(RIDES_IT_OUT);
        LockClient other = fixture().client();
        Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
        Future<Lease> waiting = fixture().start(() -> style.acquire(other.named("x")));
        ContractFixture.awaitWaiters(other, "x", 1);
        fixture().nemesis().cut(client, "S08 for a release during a cut");
        long start = System.nanoTime();
        ReleaseOutcome outcome = style.release(lease);
        assertThat(outcome).as("nobody can know that it worked").isNotEqualTo(ReleaseOutcome.RELEASED);
        ContractFixture.assertHonest(outcome, lease); // LOST where the connection is the lease
        assertThat(DurationAssertions.since(start))
                .as("release")
                .isLessThan(RIDES_IT_OUT.requestTimeout().plus(ContractFixture.PROMPT));
        assertThat(lease.isHeld()).isFalse();
        fixture().nemesis().heal(client);
        long healed = System.nanoTime();
        Lease next = ApiStyle.result(waiting);
        assertThat(DurationAssertions.since(healed))
                .as("until it is cleaned up")
                .isLessThan(fixture().backend().takeoverWithin());
        assertThat(style.release(lease)).as("the outcome stays").isEqualTo(outcome);
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        style.release(style.tryAcquire(client.named("x"), ContractFixture.LONG).orElseThrow());
        fixture().assertFree(other, "x");
    }
}
