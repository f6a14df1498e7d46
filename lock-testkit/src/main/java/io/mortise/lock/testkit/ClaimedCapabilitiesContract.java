// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each {@link Capability} works if the backend claims it, and that its use is rejected otherwise. */
interface ClaimedCapabilitiesContract extends Contract {
    /** A short test of one capability; the contracts of its rules test it in more detail. */
    interface Check {
        void run(LockClient client, boolean claimed) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    default void capabilities_eachWorksOrIsRefused(Capability capability) throws Exception {
        LockClient client = fixture().client();
        // A switch expression: a new constant does not compile until it has a check.
        Check check = switch (capability) {
            case FENCING -> this::fencing;
            case FAIR -> this::inOrder;
            case PUSH -> this::pushed;
            case CRASH_RELEASE -> this::crashReleased;
            case PER_LOCK_LEASE -> this::leasePerLock;
            case HOLDER_INFO -> this::holderInfo;
            case LIST -> this::list;
            case DELAYED_RELEASE -> this::delayedRelease;
        };
        check.run(client, client.capabilities().contains(capability));
    }

    /** Uses {@link BackendUnderTest#url}: an application that requires a missing capability fails when it connects. */
    @Test
    default void capabilities_connectFailsIfARequiredOneIsMissing() throws Exception {
        String rule = "capabilities required at connect";
        ClientOptions options = ClientOptions.defaults();
        Set<Capability> claimed;
        try (LockClient client = fixture().clientByUrl(rule, options)) {
            claimed = client.capabilities();
        }
        assertThat(claimed)
                .as("capabilities of a client by URL and of one by programmatic configuration")
                .isEqualTo(fixture().client().capabilities());
        fixture()
                .clientByUrl(rule, options, claimed.toArray(new Capability[0]))
                .named("x")
                .run(Lease::ensureHeld);
        for (Capability missing : missing(claimed)) {
            assertThatThrownBy(() -> fixture().clientByUrl(rule, options, missing))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(missing.name());
        }
    }

    private static Set<Capability> missing(Set<Capability> claimed) {
        Set<Capability> all = EnumSet.allOf(Capability.class);
        all.removeAll(claimed);
        return all;
    }

    private void fencing(LockClient client, boolean claimed) throws InterruptedException {
        Lease first = client.named("x").acquire();
        if (claimed) {
            long token = first.fencingToken();
            first.close();
            try (Lease second = client.named("x").acquire()) {
                assertThat(second.fencingToken()).isGreaterThan(token);
            }
        } else {
            assertThatThrownBy(first::fencingToken).isInstanceOf(UnsupportedOperationException.class);
            first.close();
        }
    }

    private void inOrder(LockClient client, boolean claimed) throws Exception {
        ContractTestFixture.onlyIf(
                client, Capability.FAIR); // without the capability the order may still be right by chance
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        CompletableFuture<Lease> second = client.named("x").acquireAsync();
        held.close();
        Lease lease = ApiStyle.result(first);
        assertThat(second).isNotDone();
        lease.close();
        ApiStyle.result(second).close();
    }

    private void pushed(LockClient client, boolean claimed) throws Exception {
        ContractTestFixture.onlyIf(client, Capability.PUSH); // a client that polls may still be quick
        LockClient other = fixture().client();
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(client, "x", 1);
        long start = System.nanoTime();
        held.close();
        ApiStyle.result(waiting).close();
        assertThat(DurationAssertions.since(start)).as("from release to grant").isLessThan(ContractTestFixture.PROMPT);
    }

    private void crashReleased(LockClient client, boolean claimed) throws Exception {
        ContractTestFixture.onlyIf(client, Capability.CRASH_RELEASE); // without the capability there is no bound
        LockClient other = fixture().client();
        client.named("x", fixture().shortLease(client)).acquire();
        fixture().faultInjector().silence(client, "CRASH_RELEASE");
        assertThat(other.named("x").tryAcquire(fixture().backend().takeoverWithin()))
                .as("the lock of an unresponsive client")
                .hasValueSatisfying(Lease::close);
    }

    private void leasePerLock(LockClient client, boolean claimed) throws InterruptedException {
        if (claimed) {
            Duration requested = ContractTestFixture.firstGranted(
                    client, Duration.ofSeconds(11), fixture().backend().lease());
            Duration inForce = fixture().leaseInForce(client, requested);
            try (Lease lease = client.named("x", LockOptions.defaults().leaseDuration(requested))
                    .acquire()) {
                assertThat(lease.remaining()).isBetween(inForce.minusSeconds(3), inForce.plusSeconds(1));
            }
        } else {
            Duration requested = Duration.ofSeconds(11);
            assertThatThrownBy(() -> client.named("x", LockOptions.defaults().leaseDuration(requested)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(requested.toString());
        }
    }

    private void holderInfo(LockClient client, boolean claimed) throws InterruptedException {
        if (client.admin().isEmpty()) {
            assertThat(claimed).as("claimed without a LockAdmin").isFalse();
            assertThatThrownBy(() -> client.named("x").status()).isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        Map<String, String> metadata = Map.of("job", "nightly");
        try (Lease lease =
                client.named("x", LockOptions.defaults().metadata(metadata)).acquire()) {
            LockHolder holder = ContractTestFixture.status(client.admin().orElseThrow(), "x")
                    .holders()
                    .get(0);
            if (claimed) {
                assertThat(holder.owner()).contains(lease.ownerId());
                assertThat(holder.host()).isPresent();
                assertThat(holder.pid()).isPresent();
                assertThat(holder.metadata()).isEqualTo(metadata);
            }
        }
    }

    private void list(LockClient client, boolean claimed) throws InterruptedException {
        if (client.admin().isEmpty()) {
            assertThat(claimed).as("claimed without a LockAdmin").isFalse();
        } else if (claimed) {
            try (Lease lease = client.named("x").acquire()) {
                assertThat(ContractTestFixture.await(
                                        client.admin().orElseThrow().list("", 10, ""))
                                .locks())
                        .singleElement()
                        .satisfies(lock -> assertThat(lock.name()).isEqualTo(lease.lockName()));
            }
        } else {
            assertThatThrownBy(() -> ContractTestFixture.await(
                            client.admin().orElseThrow().list("", 10, "")))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    private void delayedRelease(LockClient client, boolean claimed) throws InterruptedException {
        Lease lease = client.named("x").acquire();
        Duration delay = fixture().acceptedDelay(client, Duration.ofSeconds(1));
        if (claimed) {
            assertThat(lease.releaseAfter(delay)).isEqualTo(ReleaseOutcome.RELEASED);
        } else {
            assertThatThrownBy(() -> lease.releaseAfter(delay))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(Capability.DELAYED_RELEASE.name());
            assertThat(lease.isHeld()).as("held after the refusal").isTrue();
            lease.close();
        }
    }
}
