// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a delayed release keeps the lock for its delay, no longer and no shorter, if requests are slow or get no reply.
 *
 * <p>Rules S05, S08. Needs a {@link Faults#link}.
 */
interface DelayedReleaseFaultContract extends Contract {
    /**
     * Asserts that the lock "x" stays taken for the delay, and is free soon after it, also for attempts that do not wait.
     *
     * @param start when the delayed release was called
     * @param late how long after that its last request, which may be repeated, is executed at most
     */
    private void assertKeptFor(Duration delay, LockClient other, long start, Duration late) throws Exception {
        ContractTestFixture.eventually("S05: the lock becomes free", ContractTestFixture.LONG, () -> {
            ContractTestFixture.letPass("a pause", Duration.ofMillis(50));
            try {
                return other.named("x").tryRun(Duration.ZERO, lease -> {});
            } catch (BackendUnavailableException e) {
                return false; // the machine stood still for longer than a request may take
            }
        });
        Duration expiry =
                fixture().backend().takeoverWithin().minus(fixture().backend().lease());
        assertThat(DurationAssertions.since(start))
                .as("from the delayed release to the next grant")
                .isBetween(
                        delay,
                        delay.plus(expiry)
                                .plus(fixture().longestRounding(other))
                                .plus(late)
                                .plus(ContractTestFixture.PROMPT));
        fixture().assertFree(other, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S05_aDelayedReleaseWhoseReplyWasLostKeepsTheLock(ApiStyle style) throws Exception {
        LockClient client = fixture().client(LostReplyContract.SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.DELAYED_RELEASE);
        Duration delay = fixture().acceptedDelay(client, Duration.ofSeconds(3));
        Lease lease =
                style.tryAcquire(client.named("x"), ContractTestFixture.LONG).orElseThrow();
        fixture().faultInjector().dropNextReply(client, "S05 when the reply to a delayed release is lost");
        long start = System.nanoTime();
        assertThat(style.releaseAfter(lease, delay)).isNotEqualTo(ReleaseOutcome.LOST);
        assertThat(lease.isHeld()).isFalse();
        assertKeptFor(delay, other, start, Duration.ZERO);
    }

    /** The grants end before the requests arrive, which find another owner, or nothing: neither is theirs to keep. */
    @Test
    default void S05_aDelayedReleaseThatArrivesAfterTheGrantHasEndedKeepsNothing() throws Exception {
        LockClient client = fixture().client(LostReplyContract.SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.DELAYED_RELEASE);
        boolean perLock = client.capabilities().contains(Capability.PER_LOCK_LEASE);
        List<Lease> leases = new ArrayList<>();
        for (String name : List.of("taken", "deleted")) {
            leases.add(client.named(name).tryAcquire(ContractTestFixture.LONG).orElseThrow());
        }
        if (perLock) {
            leases.add(client.named("expired", fixture().shortestLease(client))
                    .tryAcquire(ContractTestFixture.LONG)
                    .orElseThrow());
        }
        fixture().faultInjector().silence(client, "S05 when a delayed release has no reply");
        Duration longest = fixture().longestDelay(client);
        List<CompletableFuture<ReleaseOutcome>> outcomes =
                leases.stream().map(lease -> lease.releaseAfterAsync(longest)).toList();
        fixture().forceRelease("taken", other, "S05");
        fixture().forceRelease("deleted", other, "S05");
        Lease next = other.named("taken").tryAcquire(ContractTestFixture.LONG).orElseThrow();
        if (perLock) {
            Duration lease = fixture().shortestLease(client).leaseDuration().orElseThrow();
            ContractTestFixture.letPass(
                    "the third grant expires",
                    fixture().leaseInForce(client, lease).plusMillis(300));
        }
        fixture().faultInjector().heal(client);
        for (CompletableFuture<ReleaseOutcome> outcome : outcomes) {
            assertThat(ApiStyle.result(outcome)).isNotEqualTo(ReleaseOutcome.RELEASED);
        }
        ContractTestFixture.throughout(
                "the requests that were silenced arrive",
                LostReplyContract.SHORT_REQUEST_TIMEOUT.requestTimeout().multipliedBy(3),
                () -> assertThat(next.isHeld()).as("the next lease").isTrue());
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        for (Lease lease : leases) {
            fixture().assertFree(other, lease.lockName());
        }
    }

    /** The delay counts from the call, and not from the execution of a request that was sent again. */
    @Test
    default void S05_aCutDuringADelayedReleaseNeitherFreesNorKeepsTheLock() throws Exception {
        LockClient client = fixture().client(LostReplyContract.SHORT_REQUEST_TIMEOUT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.DELAYED_RELEASE);
        Duration delay = fixture().acceptedDelay(client, Duration.ofSeconds(3));
        Lease lease = client.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
        fixture().faultInjector().cut(client, "S05 when the link is cut during a delayed release");
        long start = System.nanoTime();
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAfterAsync(delay);
        ContractTestFixture.letPass("the first try", Duration.ofMillis(200));
        fixture().faultInjector().heal(client);
        assertKeptFor(delay, other, start, Duration.ZERO);
        assertThat(ApiStyle.result(outcome)).isNotEqualTo(ReleaseOutcome.LOST);
    }

    @Test
    default void S05_aDelayedReleaseOverASlowLinkKeepsTheLockForItsDelay() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(slow, Capability.DELAYED_RELEASE);
        Duration delay = fixture().acceptedDelay(slow, Duration.ofSeconds(2));
        Lease lease = slow.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
        Duration roundTrip =
                SlowLinkContract.SLOW_CALL.dividedBy(fixture().backend().roundTripsPerCall());
        fixture().faultInjector().delay(slow, roundTrip.dividedBy(2), "S05 on a slow link");
        long start = System.nanoTime();
        assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        assertKeptFor(delay, other, start, Duration.ZERO);
    }

    /** The renewal would keep the lock for much longer than the delay. */
    @Test
    default void S05_aRenewalThatIsExecutedLateDoesNotReplaceTheDelay() throws Exception {
        LockClient slow = fixture().client(SlowLinkContract.IMPATIENT);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(slow, Capability.DELAYED_RELEASE);
        ContractTestFixture.onlyIf(slow, Capability.PER_LOCK_LEASE);
        Duration delay = fixture().acceptedDelay(slow, Duration.ofSeconds(3));
        Duration duration = ContractTestFixture.firstGranted(slow, delay.multipliedBy(4), delay.multipliedBy(3));
        Lease lease = slow.named("x", LockOptions.defaults().leaseDuration(duration))
                .tryAcquire(ContractTestFixture.LONG)
                .orElseThrow();
        fixture().faultInjector().delay(slow, SlowLinkContract.LATE, "S05 when a renewal is late");
        ContractTestFixture.letPass(
                "a renewal is under way", duration.dividedBy(3).plusMillis(200));
        fixture().faultInjector().delay(slow, Duration.ZERO, "S05 when a renewal is late");
        long start = System.nanoTime();
        assertThat(lease.releaseAfter(delay)).isNotEqualTo(ReleaseOutcome.LOST);
        assertKeptFor(delay, other, start, SlowLinkContract.LATE.plus(SlowLinkContract.IMPATIENT.requestTimeout()));
    }
}
