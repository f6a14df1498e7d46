// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that {@link LockAdmin} shows holders and waiters, lists locks and force-releases a grant. Rule S18. */
interface AdminContract extends Contract {
    @Test
    default void S18_statusShowsTheHolder() throws Exception {
        LockClient client = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S18");
        ContractTestFixture.onlyIf(client, Capability.HOLDER_INFO);
        Map<String, String> metadata = Map.of("job", "nightly report", "ключ", "a=b %20\n");
        try (Lease lease =
                client.named("x", LockOptions.defaults().metadata(metadata)).acquire()) {
            LockStatus status = ContractTestFixture.status(admin, "x");
            assertThat(status.name()).isEqualTo("x");
            assertThat(status.waiters()).isEmpty();
            assertThat(status.holders()).hasSize(1);
            LockHolder holder = status.holders().get(0);
            assertThat(holder.owner()).contains(lease.ownerId());
            assertThat(holder.host())
                    .hasValueSatisfying(host -> assertThat(host).isNotBlank());
            assertThat(holder.pid()).hasValue(ProcessHandle.current().pid());
            assertThat(holder.since())
                    .hasValueSatisfying(since -> assertThat(
                                    Duration.between(since, Instant.now()).abs())
                            .isLessThan(ContractTestFixture.LONG));
            assertThat(holder.metadata()).isEqualTo(metadata);
            assertThat(holder.isForeign()).isFalse();
            if (client.capabilities().contains(Capability.FENCING)) {
                assertThat(holder.token()).hasValue(lease.fencingToken());
            }
            assertThat(client.named("x").status().join().holders())
                    .as("by the lock itself")
                    .hasSize(1);
        }
        ContractTestFixture.eventually(
                "a released lock has no holder",
                ContractTestFixture.PROMPT,
                () -> ContractTestFixture.status(admin, "x").holders().isEmpty());
        assertThat(ContractTestFixture.status(admin, "never used").holders()).isEmpty();
    }

    @Test
    default void S18_statusShowsWaiters() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(client, "S18");
        ContractTestFixture.onlyIf(client, Capability.FAIR); // other backends need not keep a queue in the store
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        ContractTestFixture.eventually(
                "the waiter is shown",
                ContractTestFixture.LONG,
                () -> ContractTestFixture.status(admin, "x").waiters().size() == 1);
        LockStatus status = ContractTestFixture.status(admin, "x");
        assertThat(status.holders()).extracting(LockHolder::owner).containsExactly(Optional.of(held.ownerId()));
        held.close();
        Lease lease = ApiStyle.result(waiting);
        assertThat(status.waiters())
                .extracting(LockHolder::owner)
                .as("the waiter that was shown is the one that was granted the lock")
                .containsExactly(Optional.of(lease.ownerId()));
        lease.close();
    }

    @Test
    default void S18_aForcedReleaseRemovesOnlyTheGrantThatWasRead() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(two, "S18");
        Lease first = one.named("x").acquire();
        LockHolder seen = ContractTestFixture.status(admin, "x").holders().get(0);
        first.close();
        assertThat(ContractTestFixture.await(admin.forceRelease("x", seen)))
                .as("forced release of a free lock")
                .isFalse();
        Lease second = one.named("x").acquire();
        assertThat(ContractTestFixture.await(admin.forceRelease("x", seen)))
                .as("forced release of another holder's grant")
                .isFalse();
        assertThat(second.isHeld()).isTrue();
        assertThat(two.named("x").tryAcquire()).isEmpty();
        ContractTestFixture.forceRelease(admin, "x");
        fixture().assertFree(two, "x");
    }

    @Test
    default void S18_aForcedReleaseWakesTheNextWaiter() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S18");
        Lease taken = one.named("x", fixture().shortLease(one)).acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        ContractTestFixture.forceRelease(admin, "x");
        try (Lease next = ApiStyle.result(waiting)) {
            assertThat(next.isHeld()).isTrue();
            Duration bound = fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
            ContractTestFixture.eventually("the old holder sees its loss", bound, () -> !taken.isHeld());
            assertThat(next.isHeld()).isTrue();
        }
    }

    /** A prefix is no pattern: {@code _}, {@code .}, {@code +} and the {@code %} of an escaped name stand for themselves. */
    @Test
    default void S18_listSupportsPagesAndPrefixes() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractTestFixture.admin(client, "S18");
        String prefix = "p_a.ge+/";
        List<Lease> held = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            expected.add(prefix + i);
            held.add(client.named(prefix + i).acquire());
        }
        for (String other : List.of(
                "p_a.ge+",
                "p_a",
                "P_a.ge+/1",
                "z",
                "pxa.ge+/1",
                "p_axge+/1",
                "p_a.geee/1",
                "p_a.ge+x/1",
                "p_a.ge+2F1")) {
            held.add(client.named(other).acquire());
        }
        List<String> seen = new ArrayList<>();
        ContractTestFixture.eachPage(
                admin,
                prefix,
                10,
                30,
                page -> page.locks().forEach(lock -> {
                    assertThat(lock.holders()).hasSize(1);
                    seen.add(lock.name());
                }));
        assertThat(seen).containsExactlyInAnyOrderElementsOf(expected);
        held.forEach(Lease::close);
    }

    /** Locks come and go between two pages; those that are held throughout are listed once. */
    @Test
    default void S18_pagesShowEachLockThatIsHeldThroughoutOnce() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractTestFixture.admin(client, "S18");
        int count = 150;
        List<CompletableFuture<Lease>> requested = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requested.add(client.named("page" + (i == 0 ? "" : "/" + i)).acquireAsync());
        }
        Map<String, Lease> held = new HashMap<>();
        for (CompletableFuture<Lease> one : requested) {
            Lease lease = ApiStyle.result(one);
            held.put(lease.lockName(), lease);
        }
        List<String> atOnce = new ArrayList<>();
        ContractTestFixture.eachPage(
                admin, "page", 10_000, count, page -> page.locks().forEach(lock -> atOnce.add(lock.name())));
        assertThat(atOnce).as("in one page").containsExactlyInAnyOrderElementsOf(held.keySet());
        Set<String> kept = new HashSet<>(held.keySet());
        List<String> seen = new ArrayList<>();
        ContractTestFixture.eachPage(admin, "page", 7, 2 * count, page -> {
            page.locks().forEach(lock -> seen.add(lock.name()));
            String gone = page.locks().isEmpty() ? "" : page.locks().get(0).name();
            if (kept.remove(gone)) {
                Objects.requireNonNull(held.get(gone)).release();
            }
        });
        assertThat(seen).doesNotHaveDuplicates().containsAll(kept);
        held.values().forEach(Lease::releaseAsync);
    }

    @Test
    default void S18_everyFindingHasARemedy() throws Exception {
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S18");
        assertThat(ContractTestFixture.await(admin.diagnose())).allSatisfy(finding -> {
            assertThat(finding.what()).isNotBlank();
            assertThat(finding.remedy()).isNotBlank();
        });
    }

    /** A backend need not report clocks; each clock that it reports must be read from the server at that time, not cached. */
    @Test
    default void S18_reportedClocksAdvance() throws Exception {
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S18");
        Map<String, Instant> first = ContractTestFixture.await(admin.clocks());
        assertThat(first.keySet()).allSatisfy(server -> assertThat(server).isNotBlank());
        ContractTestFixture.eventually("each clock has advanced", ContractTestFixture.PROMPT, () -> {
            Map<String, Instant> now = ContractTestFixture.await(admin.clocks());
            return first.entrySet().stream().allMatch(then -> {
                Instant later = now.get(then.getKey());
                return later != null && later.isAfter(then.getValue());
            });
        });
    }

    /** A waiter is no holder, though an operator sees both in one status. */
    @Test
    default void S18_aForcedReleaseOfAWaiterSparesTheHolder() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S18");
        ContractTestFixture.onlyIf(client, Capability.FAIR); // other backends need not keep a queue in the store
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(client, "x", 1);
        LockHolder waiter = ContractTestFixture.status(admin, "x").waiters().get(0);
        assertThat(ContractTestFixture.await(admin.forceRelease("x", waiter))).isFalse();
        assertThat(held.isHeld()).isTrue();
        assertThat(waiting).as("S01: the waiter").isNotDone();
        assertThat(other.named("x").tryAcquire()).as("S01: the holder's lock").isEmpty();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        ApiStyle.result(waiting).close();
    }
}
