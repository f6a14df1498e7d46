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

/** Contract of the operations that need a capability: without it they are refused. Other contracts test that they work. */
interface CapabilityContract extends Contract {
    @Test
    default void capabilities_areConstant() {
        Set<Capability> one = fixture().client().capabilities();
        assertThat(fixture().client().capabilities()).isEqualTo(one);
    }

    @Test
    default void capabilities_fencingIsThereOrRefused() throws Exception {
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
        Duration asked = Duration.ofSeconds(7);
        LockOptions options = LockOptions.defaults().leaseDuration(asked);
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
    default void capabilities_theOperatorsViewIsThereOrRefused() {
        LockClient client = fixture().client();
        if (client.admin().isEmpty()) {
            assertThat(client.capabilities()).doesNotContain(Capability.LIST, Capability.HOLDER_INFO);
            assertThatThrownBy(() -> client.named("x").status()).isInstanceOf(UnsupportedOperationException.class);
        } else {
            assertThat(client.named("x").status()).succeedsWithin(ContractFixture.LONG);
        }
    }

    @Test
    default void capabilities_listIsThereOrRefused() {
        LockClient client = fixture().client();
        Assumptions.assumeTrue(client.admin().isPresent(), "no LockAdmin");
        if (client.capabilities().contains(Capability.LIST)) {
            assertThat(client.admin().orElseThrow().list("", 10, "")).succeedsWithin(ContractFixture.LONG);
        } else {
            assertThatThrownBy(() ->
                            ContractFixture.await(client.admin().orElseThrow().list("", 10, "")))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
