// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that an operation is rejected by a backend that does not claim the capability which the operation needs.
 *
 * <p>Other contracts test that it works.
 */
interface CapabilityContract extends Contract {
    @Test
    default void capabilities_areConstant() {
        Set<Capability> one = fixture().client().capabilities();
        assertThat(fixture().client().capabilities()).isEqualTo(one);
    }

    @Test
    default void capabilities_fencingWorksOrIsRefused() throws Exception {
        LockClient client = fixture().client();
        try (Lease lease = client.named("x").acquire()) {
            if (client.capabilities().contains(Capability.FENCING)) {
                assertThat(lease.fencingToken()).isEqualTo(lease.fencingToken());
            } else {
                assertThatThrownBy(lease::fencingToken).isInstanceOf(UnsupportedOperationException.class);
            }
        }
    }

    @Test
    default void S14_perLockLeaseIsHonouredOrRefused() throws Exception {
        LockClient client = fixture().client();
        if (!client.capabilities().contains(Capability.PER_LOCK_LEASE)) {
            LockOptions options = LockOptions.defaults().leaseDuration(Duration.ofSeconds(7));
            assertThatThrownBy(() -> client.named("x", options))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT7S");
            return;
        }
        Duration own = fixture().backend().lease();
        assertThat(ContractTestFixture.grants(client, own))
                .as("S14: a lease of BackendUnderTest.lease(), %s, is granted", own)
                .isTrue();
        assertThat(fixture().leaseInForce(client, own))
                .as("S14: the lease duration in force for BackendUnderTest.lease()")
                .isEqualTo(own);
        for (Duration requested :
                List.of(own, Duration.ofSeconds(7), Duration.ofSeconds(37))) { // two that are no usual default
            if (ContractTestFixture.grants(client, requested)) {
                Duration inForce = fixture().leaseInForce(client, requested);
                try (Lease lease = client.named("x", LockOptions.defaults().leaseDuration(requested))
                        .acquire()) {
                    assertThat(lease.remaining())
                            .as("remaining() of a lease of %s", requested)
                            .isBetween(inForce.minusSeconds(3), inForce.plusSeconds(1));
                }
            }
        }
    }

    /** The store may round it up; S02: the deadline counts from the request. */
    @ParameterizedTest
    @ValueSource(longs = {1_000, 1_900, 2_501, 31_700, 59_999, 3_600_000})
    default void S14_everyLeaseDurationIsGrantedAsRequested(long millis) throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.PER_LOCK_LEASE);
        Duration requested = Duration.ofMillis(millis);
        ContractTestFixture.firstGranted(client, requested);
        client.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        long start = System.nanoTime();
        try (Lease lease = client.named("x", LockOptions.defaults().leaseDuration(requested))
                .acquire()) {
            Duration remaining = lease.remaining();
            Duration most = ContendedLease.mostThatRemains(fixture().leaseInForce(client, requested));
            assertThat(remaining)
                    .as("remaining() of a lease of %s", requested)
                    .isBetween(most.minus(DurationAssertions.since(start)).minusMillis(20), most);
        }
    }

    /** A client keeps the options of each lock, whichever way they were set, and also if a name has several. */
    @Test
    default void S14_optionsOfOneNameAreIndependent() throws Exception {
        LockClient client = fixture().client();
        Duration maxHold = Duration.ofMillis(700);
        LockOptions first = LockOptions.defaults().maxHold(maxHold).metadata(Map.of("job", "nightly"));
        LockOptions second =
                LockOptions.defaults().metadata(Map.of("job", "hourly")).maxHold(maxHold);
        DistributedLock limited = client.named("x", first);
        DistributedLock limitedToo = client.named("x", second);
        DistributedLock unlimited = client.named("x");
        for (DistributedLock lock : List.of(limited, limitedToo)) {
            Lease lease = lock.acquire();
            assertThat(lease.remaining()).isLessThanOrEqualTo(maxHold);
            assertThat(ContractTestFixture.await(lease.lost()).kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
        }
        try (Lease lease = unlimited.acquire()) {
            assertThat(lease.remaining()).isGreaterThan(maxHold);
        }
    }

    @Test
    default void capabilities_adminWorksOrIsRefused() {
        LockClient client = fixture().client();
        if (client.admin().isEmpty()) {
            assertThat(client.capabilities()).doesNotContain(Capability.LIST, Capability.HOLDER_INFO);
            assertThatThrownBy(() -> client.named("x").status()).isInstanceOf(UnsupportedOperationException.class);
        } else {
            assertThat(client.named("x").status()).succeedsWithin(ContractTestFixture.LONG);
        }
    }

    @Test
    default void capabilities_listWorksOrIsRefused() {
        LockClient client = fixture().client();
        Assumptions.assumeTrue(client.admin().isPresent(), "no LockAdmin");
        if (client.capabilities().contains(Capability.LIST)) {
            assertThat(client.admin().orElseThrow().list("", 10, "")).succeedsWithin(ContractTestFixture.LONG);
        } else {
            assertThatThrownBy(() -> ContractTestFixture.await(
                            client.admin().orElseThrow().list("", 10, "")))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
