// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Tests that an operation is rejected if it needs a capability that the backend does not claim.
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
        Duration requested = Duration.ofSeconds(7);
        LockOptions options = LockOptions.defaults().leaseDuration(requested);
        if (!client.capabilities().contains(Capability.PER_LOCK_LEASE)) {
            assertThatThrownBy(() -> client.named("x", options))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT7S");
            return;
        }
        try (Lease lease = client.named("x", options).acquire()) {
            assertThat(lease.remaining()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8));
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
