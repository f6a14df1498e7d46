// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that locks exclude each other, {@code isHeld} is accurate, fencing tokens increase and any thread may release.
 *
 * <p>Rules S01 to S04.
 */
interface ExclusionContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S01_threadsOfOneClientExcludeEachOther(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        exclude(style, Collections.nCopies(6, client), 1, 25);
    }

    @ParameterizedTest
    @EnumSource
    default void S01_clientsExcludeEachOther(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockClient three = fixture().client();
        exclude(style, List.of(one, two, three, one, two, three), 1, 25);
    }

    @Test
    default void S01_aHundredContendersOfTwoLocksExcludeEachOther() throws Exception {
        List<LockClient> contenders = new ArrayList<>();
        List<LockClient> clients = List.of(
                fixture().client(),
                fixture().client(),
                fixture().client(),
                fixture().client());
        for (int i = 0; i < 25; i++) {
            contenders.addAll(clients);
        }
        exclude(ApiStyle.ASYNC, contenders, 2, 1);
    }

    /**
     * Unsynchronized counters, one for each lock, have the right final values only if no two owners of a lock were in the critical
     * section at once.
     */
    private void exclude(ApiStyle style, List<LockClient> clients, int locks, int rounds) throws Exception {
        int[] counters = new int[locks];
        AtomicIntegerArray inside = new AtomicIntegerArray(locks);
        Set<Long> tokens = Collections.synchronizedSet(new HashSet<>());
        List<Future<?>> workers = new ArrayList<>();
        for (int worker = 0; worker < clients.size(); worker++) {
            LockClient client = clients.get(worker);
            int number = worker / 2 % locks; // each client contends for each lock
            DistributedLock lock = client.named("counter" + number);
            workers.add(fixture().start(() -> {
                for (int i = 0; i < rounds; i++) {
                    Lease lease = style.acquire(lock);
                    assertThat(inside.incrementAndGet(number))
                            .as("owners inside")
                            .isEqualTo(1);
                    assertThat(lease.isHeld()).isTrue();
                    if (client.capabilities().contains(Capability.FENCING)) {
                        tokens.add(lease.fencingToken());
                    }
                    int seen = counters[number];
                    LockSupport.parkNanos(10_000); // gives a second owner time to interfere
                    counters[number] = seen + 1;
                    inside.decrementAndGet(number);
                    assertThat(style.release(lease)).isEqualTo(ReleaseOutcome.RELEASED);
                }
                return null;
            }));
        }
        ApiStyle.awaitAll(workers);
        assertThat(Arrays.stream(counters).sum()).as("the sum of the counters").isEqualTo(clients.size() * rounds);
        if (locks == 1 && clients.get(0).capabilities().contains(Capability.FENCING)) {
            assertThat(tokens).as("S03: tokens are unique").hasSize(clients.size() * rounds);
        }
    }

    @Test
    default void S01_locksOfOtherNamesAreIndependent() throws Exception {
        LockClient client = fixture().client();
        try (Lease one = client.named("one").acquire()) {
            Optional<Lease> two = client.named("two").tryAcquire();
            assertThat(two).as("a lock of another name").isPresent();
            assertThat(one.isHeld()).isTrue();
            assertThat(two.orElseThrow().isHeld()).isTrue();
            two.orElseThrow().close();
        }
    }

    @Test
    default void S02_isHeldIsLocalAndRemainingIsWithinTheLease() throws Exception {
        LockClient client = fixture().client();
        Lease lease = client.named("x", fixture().shortLease(client)).acquire();
        assertThat(lease.remaining())
                .isPositive()
                .isLessThanOrEqualTo(fixture().backend().lease());
        DurationAssertions.overshoot("2,000 calls of isHeld", ContractTestFixture.LONG, Duration.ofMillis(200), () -> {
            long start = System.nanoTime();
            for (int i = 0; i < 2_000; i++) {
                lease.isHeld();
            }
            return DurationAssertions.since(start);
        });
        lease.ensureHeld();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThatThrownBy(lease::ensureHeld).isInstanceOf(LeaseLostException.class);
    }

    @Test
    default void S02_renewalKeepsALeaseBeyondItsDuration() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        try (Lease held = client.named("x", fixture().shortLease(client)).acquire()) {
            Lease before = client.named("y", fixture().shortestLease(client)).acquire();
            CompletableFuture<Lease> handedOff = other.named("y").acquireAsync();
            ContractTestFixture.awaitWaiters(client, "y", 1);
            before.release();
            Lease heir = ApiStyle.result(handedOff);
            Optional<LockHolder> seen = seen(other);
            long start = System.nanoTime();
            ContractTestFixture.eventually("two lease durations", lease.multipliedBy(3), () -> {
                assertThat(held.isHeld())
                        .as("held after %s", DurationAssertions.since(start))
                        .isTrue();
                assertThat(held.remaining()).isLessThanOrEqualTo(lease);
                assertThat(heir.isHeld())
                        .as("held after a holder with a shorter lease")
                        .isTrue();
                return DurationAssertions.since(start).compareTo(lease.multipliedBy(2)) > 0;
            });
            assertThat(other.named("x").tryAcquire()).isEmpty();
            assertThat(client.named("y").tryAcquire())
                    .as("S01: the lock of a holder after one with a shorter lease")
                    .isEmpty();
            assertThat(heir.release()).isEqualTo(ReleaseOutcome.RELEASED);
            if (seen.isPresent()) {
                assertThat(ContractTestFixture.await(other.admin().orElseThrow().forceRelease("x", seen.get())))
                        .as("S18: a forced release of the holder as it was seen before its renewals")
                        .isTrue();
            }
        }
    }

    /** Returns the holder of the lock "x", from a list if the backend has one. */
    private static Optional<LockHolder> seen(LockClient operator) throws InterruptedException {
        if (operator.admin().isEmpty()) {
            return Optional.empty();
        }
        LockAdmin admin = operator.admin().get();
        LockStatus status = operator.capabilities().contains(Capability.LIST)
                ? ContractTestFixture.await(admin.list("x", 1, "")).locks().get(0)
                : ContractTestFixture.status(admin, "x");
        return Optional.of(status.holders().get(0));
    }

    @ParameterizedTest
    @EnumSource
    default void S03_tokensIncreaseAcrossReleasesAndClients(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.FENCING);
        long last = Long.MIN_VALUE;
        for (int i = 0; i < 10; i++) {
            Lease lease = style.acquire((i % 3 == 0 ? two : one).named("x"));
            assertThat(lease.fencingToken()).as("token of grant %s", i).isGreaterThan(last);
            last = lease.fencingToken();
            style.release(lease);
        }
        one.close();
        two.close();
        try (Lease lease = fixture().client().named("x").acquire()) {
            assertThat(lease.fencingToken()).as("token of a later client").isGreaterThan(last);
        }
    }

    /** The token outlives the entry of the lock: its removal, its expiry, and a time without any request. */
    @Test
    default void S03_tokensIncreaseOverRemovalsAndOverATimeWithoutUse() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.FENCING);
        LockOptions options = fixture().shortLease(client);
        LockOptions shortest = fixture().shortestLease(client); // so that many leases pass
        Map<String, Long> last = new HashMap<>();
        List<String> names = List.of("removed", "unused", "busy");
        for (String name : names) {
            for (int i = 0; i < 5; i++) {
                Lease lease = client.named(name, name.equals("unused") ? shortest : options)
                        .acquire();
                assertThat(lease.fencingToken()).isGreaterThan(last.getOrDefault(name, Long.MIN_VALUE));
                last.put(name, lease.fencingToken());
                lease.close();
            }
        }
        Lease removed = client.named("removed", options).acquire();
        assertThat(removed.fencingToken()).isGreaterThan(last.get("removed"));
        fixture().removeGrant("removed", other, "S03 after a removal");
        Lease next = client.named("removed", options)
                .tryAcquire(ContractTestFixture.LONG)
                .orElseThrow();
        assertThat(next.fencingToken()).as("S03: after a removal").isGreaterThan(removed.fencingToken());
        fixture().removeGrant("removed", other, "S03 after a removal");
        Lease busy = other.named("busy", options).acquire();
        ContractTestFixture.letPass(
                "a lease passes", fixture().backend().lease().multipliedBy(3).dividedBy(2));
        assertThat(busy.fencingToken()).isGreaterThan(last.get("busy"));
        long held = busy.fencingToken();
        busy.close();
        for (LockClient one : List.of(other, client)) {
            assertToken(one, "removed", next.fencingToken());
            assertToken(one, "unused", last.getOrDefault("unused", Long.MAX_VALUE));
            assertToken(one, "busy", held);
        }
    }

    private static void assertToken(LockClient client, String name, long above) throws InterruptedException {
        try (Lease lease = client.named(name).acquire()) {
            assertThat(lease.fencingToken())
                    .as("S03: token of lock \"%s\"", name)
                    .isGreaterThan(above);
        }
    }

    @Test
    default void S04_anyThreadMayRelease() throws Exception {
        LockClient client = fixture().client();
        Lease lease = client.named("x").acquire();
        assertThat(ApiStyle.result(fixture().start(lease::release))).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(client, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S04_theSameThreadAcquiringTwiceWaits(ApiStyle style) throws Exception {
        DistributedLock lock = fixture().client().named("x");
        Lease first = style.acquire(lock);
        assertThat(style.tryAcquire(lock, Duration.ZERO)).isEmpty();
        ContractTestFixture.assertWaitFails(style, lock, Duration.ofMillis(500));
        assertThat(style.release(first)).isEqualTo(ReleaseOutcome.RELEASED);
        Lease second = style.acquire(lock);
        assertThat(second.ownerId()).as("the owner id of the next grant").isNotEqualTo(first.ownerId());
        assertThat(List.of(first.ownerId(), second.ownerId()))
                .allSatisfy(id -> assertThat(id).matches("[0-9a-f]{32}"));
        style.release(second);
    }

    /** So many grants that a store which reserves tokens in advance has to reserve more than once; the lock is never free between. */
    @Test
    default void S03_tokensIncreaseOverManyHandOffs() throws Exception {
        List<LockClient> clients = List.of(fixture().client(), fixture().client());
        ContractTestFixture.onlyIf(clients.get(0), Capability.FENCING);
        List<Long> tokens = new ArrayList<>();
        Lease held = clients.get(0).named("x").acquire();
        // A backend without notifications polls, so that each hand-off takes long.
        int handOffs = clients.get(0).capabilities().contains(Capability.PUSH) ? 150 : 30;
        for (int i = 0; i < handOffs; i++) {
            tokens.add(held.fencingToken());
            CompletableFuture<Lease> next = clients.get(1 - i % 2).named("x").acquireAsync();
            if (i % 10 == 0) {
                ContractTestFixture.awaitWaiters(clients.get(0), "x", 1);
            }
            held.release();
            held = ApiStyle.result(next);
        }
        held.release();
        for (LockClient client : clients) { // the lock was free before
            try (Lease lease = client.named("x").acquire()) {
                tokens.add(lease.fencingToken());
            }
        }
        assertThat(tokens)
                .as("S03: tokens in the order of the grants")
                .isSorted()
                .doesNotHaveDuplicates();
    }

    /** 128 random bits: whatever a client puts into each digit in advance would be the same in many ids. */
    @Test
    default void S04_ownerIdsAreRandomInEveryDigit() throws Exception {
        List<LockClient> clients = List.of(fixture().client(), fixture().client());
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            try (Lease lease = clients.get(i % 2).named("x" + i % 3).acquire()) {
                ids.add(lease.ownerId());
            }
        }
        assertThat(ids).doesNotHaveDuplicates();
        for (int digit = 0; digit < 32; digit++) {
            int position = digit;
            assertThat(ids.stream().map(id -> id.charAt(position)).distinct().count())
                    .as("S04: different values of digit %d in %d owner ids", digit, ids.size())
                    .isGreaterThan(6);
        }
    }
}
