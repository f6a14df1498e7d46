// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract over a slow link. Needs a {@link Faults#link} that can be delayed. */
interface SlowLinkContract extends Contract {
    Duration ROUND_TRIP = Duration.ofMillis(200);

    /** One story, since it lasts longer than a lease: S02, and that slowness alone loses nothing (S07). */
    @Test
    default void S02_theDeadlineCountsFromTheSendAndSlownessLosesNothing() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        other.named("x").run(Lease::ensureHeld); // what a store makes once for a lock takes round trips of its own
        fixture().nemesis().delay(slow, ROUND_TRIP.dividedBy(2), "S02 on a slow link");
        Lease held = slow.named("x", fixture().shortLease(slow)).acquire();
        // Whatever proves the lease was sent a round trip before its answer, whether that answer is the grant or not.
        Duration remaining = held.remaining();
        assertThat(remaining).isLessThanOrEqualTo(lease.minus(ROUND_TRIP));
        assertThat(remaining).as("a usable lease").isGreaterThan(Duration.ZERO);
        Callable<Boolean> later =
                ContractFixture.timePasses(lease.multipliedBy(9).dividedBy(8));
        ContractFixture.eventually("more than a lease has passed", ContractFixture.LONG, () -> {
            assertThat(held.isHeld()).as("S07: slow is not lost").isTrue();
            assertThat(held.remaining()).isLessThanOrEqualTo(lease.minus(ROUND_TRIP));
            return later.call();
        });
        assertThat(other.named("x").tryAcquire()).isEmpty();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S09_aBoundedWaitEndsAtItsBoundWithItsReplyUnderWay(ApiStyle style) throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        other.named("x").run(Lease::ensureHeld); // what a store makes once for a lock takes round trips of its own
        fixture().nemesis().delay(slow, ROUND_TRIP.dividedBy(2), "S08, S09 on a slow link");
        Duration maxWait = ROUND_TRIP.dividedBy(4);
        DurationAssertions.overshoot("beyond maxWait", ContractFixture.PROMPT, Duration.ofMillis(50), () -> {
            long start = System.nanoTime();
            try {
                Optional<Lease> late = style.tryAcquire(slow.named("x"), maxWait);
                assertThat(late).as("S15: no answer is not busy").isPresent(); // who stalled here has the answer by now
                late.orElseThrow().release();
            } catch (BackendUnavailableException e) {
                // as it must be where the wait ends in time
            }
            Duration took = DurationAssertions.since(start);
            assertThat(took).isGreaterThanOrEqualTo(maxWait);
            return took.minus(maxWait);
        });
        ContractFixture.eventually(
                "all requests have arrived", ContractFixture.LONG, ContractFixture.timePasses(ROUND_TRIP));
        assertThat(other.named("x").tryAcquire(fixture().backend().lease()))
                .as("S08: what the replies would have granted")
                .hasValueSatisfying(Lease::close);
        fixture().assertFree(other, "x");
    }
}
