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

/** Tests that leases and time limits hold over a link with high latency. Needs a {@link Faults#link} that can be delayed. */
interface SlowLinkContract extends Contract {
    Duration ROUND_TRIP = Duration.ofMillis(200);

    /** One scenario, since it takes longer than a lease: checks S02, and that high latency alone loses no lease (S07). */
    @Test
    default void S02_theDeadlineCountsFromTheSendAndASlowLinkLosesNoLease() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().delay(slow, ROUND_TRIP.dividedBy(2), "S02 on a slow link");
        Lease held = slow.named("x", fixture().shortLease(slow)).acquire();
        // The request that proves the lease was sent one round trip before its reply, whether that reply is the grant
        // or not.
        Duration remaining = held.remaining();
        assertThat(remaining).isLessThanOrEqualTo(lease.minus(ROUND_TRIP));
        assertThat(remaining).as("a usable lease").isGreaterThan(Duration.ZERO);
        Callable<Boolean> later =
                ContractTestFixture.timePasses(lease.multipliedBy(9).dividedBy(8));
        ContractTestFixture.eventually("more than a lease has passed", ContractTestFixture.LONG, () -> {
            assertThat(held.isHeld())
                    .as(
                            "S07: a slow link must not lose the lease; round trip of the link %s, lease %s, renewals answered: %s",
                            ROUND_TRIP, lease, fixture().recorder().renewals(slow))
                    .isTrue();
            assertThat(held.remaining()).isLessThanOrEqualTo(lease.minus(ROUND_TRIP));
            return later.call();
        });
        assertThat(other.named("x").tryAcquire()).isEmpty();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S09_aBoundedWaitEndsAtItsBoundWhileItsReplyIsPending(ApiStyle style) throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().delay(slow, ROUND_TRIP.dividedBy(2), "S08, S09 on a slow link");
        Duration maxWait = ROUND_TRIP.dividedBy(4);
        DurationAssertions.overshoot("beyond maxWait", ContractTestFixture.PROMPT, Duration.ofMillis(50), () -> {
            long start = System.nanoTime();
            try {
                Optional<Lease> late = style.tryAcquire(slow.named("x"), maxWait);
                // The reply may arrive in time if this thread stalls.
                assertThat(late)
                        .as("S15: no reply must not be reported as busy")
                        .isPresent();
                late.orElseThrow().release();
            } catch (BackendUnavailableException e) {
                // expected if the wait ends in time
            }
            Duration took = DurationAssertions.since(start);
            assertThat(took).isGreaterThanOrEqualTo(maxWait);
            return took.minus(maxWait);
        });
        ContractTestFixture.eventually(
                "all requests have arrived", ContractTestFixture.LONG, ContractTestFixture.timePasses(ROUND_TRIP));
        assertThat(other.named("x").tryAcquire(fixture().backend().lease()))
                .as("S08: the lock that the late replies would have granted")
                .hasValueSatisfying(Lease::close);
        fixture().assertFree(other, "x");
    }
}
