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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Contract of administration: holders, waiters, forced release (S18). */
interface AdminContract extends Contract {
    @Test
    default void S18_statusShowsTheHolder() throws Exception {
        LockClient client = fixture().client();
        LockAdmin admin = ContractFixture.admin(fixture().client(), "S18");
        ContractFixture.onlyIf(client, Capability.HOLDER_INFO);
        Map<String, String> metadata = Map.of("job", "nightly report", "ключ", "a=b %20\n");
        try (Lease lease =
                client.named("x", LockOptions.defaults().metadata(metadata)).acquire()) {
            LockStatus status = ContractFixture.status(admin, "x");
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
                            .isLessThan(ContractFixture.LONG));
            assertThat(holder.metadata()).isEqualTo(metadata);
            assertThat(holder.foreign()).isFalse();
            if (client.capabilities().contains(Capability.FENCING)) {
                assertThat(holder.token()).hasValue(lease.fencingToken());
            }
            assertThat(client.named("x").status().join().holders())
                    .as("by the lock itself")
                    .hasSize(1);
        }
        ContractFixture.eventually(
                "a lock that nobody holds has no holder",
                ContractFixture.PROMPT,
                () -> ContractFixture.status(admin, "x").holders().isEmpty());
        assertThat(ContractFixture.status(admin, "never used").holders()).isEmpty();
    }

    @Test
    default void S18_statusShowsWaiters() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockAdmin admin = ContractFixture.admin(client, "S18");
        ContractFixture.onlyIf(client, Capability.FAIR); // others need not keep a queue in the store
        Lease held = client.named("x").acquire();
        CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
        ContractFixture.eventually(
                "the waiter is seen",
                ContractFixture.LONG,
                () -> ContractFixture.status(admin, "x").waiters().size() == 1);
        LockStatus status = ContractFixture.status(admin, "x");
        assertThat(status.holders()).extracting(LockHolder::owner).containsExactly(Optional.of(held.ownerId()));
        held.close();
        Lease lease = ApiStyle.result(waiting);
        assertThat(status.waiters())
                .extracting(LockHolder::owner)
                .as("who waited is who was granted")
                .containsExactly(Optional.of(lease.ownerId()));
        lease.close();
    }

    @Test
    default void S18_aForcedReleaseTouchesOnlyWhatWasSeen() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockAdmin admin = ContractFixture.admin(two, "S18");
        Lease first = one.named("x").acquire();
        LockHolder seen = ContractFixture.status(admin, "x").holders().get(0);
        first.close();
        assertThat(ContractFixture.await(admin.forceRelease("x", seen)))
                .as("nobody holds it")
                .isFalse();
        Lease second = one.named("x").acquire();
        assertThat(ContractFixture.await(admin.forceRelease("x", seen)))
                .as("another holds it")
                .isFalse();
        assertThat(second.isHeld()).isTrue();
        assertThat(two.named("x").tryAcquire()).isEmpty();
        assertThat(ContractFixture.await(admin.forceRelease(
                        "x", ContractFixture.status(admin, "x").holders().get(0))))
                .isTrue();
        fixture().assertFree(two, "x");
    }

    @Test
    default void S18_aForcedReleaseWakesTheNextWaiter() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockAdmin admin = ContractFixture.admin(fixture().client(), "S18");
        Lease taken = one.named("x", fixture().shortLease(one)).acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        assertThat(ContractFixture.await(admin.forceRelease(
                        "x", ContractFixture.status(admin, "x").holders().get(0))))
                .isTrue();
        try (Lease next = ApiStyle.result(waiting)) {
            assertThat(next.isHeld()).isTrue();
            Duration bound = fixture().backend().removalToldWithin().plus(ContractFixture.PROMPT);
            ContractFixture.eventually("the old holder knows", bound, () -> !taken.isHeld());
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    default void S18_listGoesByPagesAndPrefix() throws Exception {
        LockClient client = fixture().client();
        ContractFixture.onlyIf(client, Capability.LIST);
        LockAdmin admin = ContractFixture.admin(client, "S18");
        List<Lease> held = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            expected.add("page/" + i);
            held.add(client.named("page/" + i).acquire());
        }
        for (String other : List.of("page", "pag", "Page/1", "z")) {
            held.add(client.named(other).acquire());
        }
        List<String> seen = new ArrayList<>();
        String cursor = "";
        int pages = 0;
        do {
            LockAdmin.Page page = ContractFixture.await(admin.list("page/", 10, cursor));
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(10);
            page.locks().forEach(lock -> {
                assertThat(lock.holders()).hasSize(1);
                seen.add(lock.name());
            });
            cursor = page.next().orElse("");
            assertThat(++pages).as("pages").isLessThan(30);
        } while (!cursor.isEmpty());
        assertThat(seen).containsExactlyInAnyOrderElementsOf(expected);
        held.forEach(Lease::close);
    }

    @Test
    default void S18_diagnoseAnswers() throws Exception {
        LockAdmin admin = ContractFixture.admin(fixture().client(), "S18");
        assertThat(ContractFixture.await(admin.diagnose())).allSatisfy(finding -> {
            assertThat(finding.what()).isNotBlank();
            assertThat(finding.remedy()).isNotBlank();
        });
    }

    /** A store need not tell; a clock that it tells of is read then, not remembered. */
    @Test
    default void S18_clocksThatAreToldGoOn() throws Exception {
        LockAdmin admin = ContractFixture.admin(fixture().client(), "S18");
        Map<String, Instant> first = ContractFixture.await(admin.clocks());
        assertThat(first.keySet()).allSatisfy(server -> assertThat(server).isNotBlank());
        ContractFixture.eventually("each clock has advanced", ContractFixture.PROMPT, () -> {
            Map<String, Instant> now = ContractFixture.await(admin.clocks());
            return first.entrySet().stream().allMatch(then -> {
                Instant later = now.get(then.getKey());
                return later != null && later.isAfter(then.getValue());
            });
        });
    }
}
