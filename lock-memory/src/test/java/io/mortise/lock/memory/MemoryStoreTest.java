// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the rules on a manual clock, so that no test sleeps or depends on the speed of the machine. */
class MemoryStoreTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);

    private final ManualClock clock = new ManualClock();
    private final MemoryStore store = MemoryStore.create(clock);
    private final MemoryFaults faultsOfA = store.newClientFaults();
    private final LockClient a = MemoryLocks.connect(store, DIRECT, faultsOfA);
    private final LockClient b = MemoryLocks.connect(store, DIRECT);

    @AfterEach
    void nothingRemains() {
        store.faults().heal();
        faultsOfA.heal();
        clock.advance(Duration.ofSeconds(2)); // for cleanups that wait for their next try
        a.close();
        b.close();
        assertThat(store.list("", 100, ""))
                .as("S17: locks that remain in the store")
                .isEmpty();
        assertThat(clock.timerCount()).as("timers of closed clients").isZero();
    }

    @Test
    @SuppressWarnings("NullAway")
    void S14_aForcedReleaseWithoutAHolderIsRejected() throws Exception {
        try (Lease held = a.named("x").acquire()) {
            assertThatThrownBy(() -> store.removeGrant("x", null, null)).hasMessage("seen");
            assertThat(held.isHeld()).isTrue();
            assertThat(store.status("x").holders()).hasSize(1);
        }
    }

    @Test
    void S01_oneOwnerAtATime() throws Exception {
        try (Lease held = a.named("x").acquire()) {
            assertThat(held.isHeld()).isTrue();
            assertThat(a.named("x").tryAcquire()).isEmpty();
            assertThat(b.named("x").tryAcquire()).isEmpty();
            try (Lease other = b.named("y").acquire()) {
                assertThat(other.isHeld()).isTrue();
            }
        }
        b.named("x").tryAcquire().orElseThrow().close();
    }

    @Test
    void S02_aSilentHoldersLeaseEndsBeforeTheStoreGrantsAgain() throws Exception {
        Lease old = a.named("x").acquire();
        CompletableFuture<Lease> next = b.named("x").acquireAsync();
        faultsOfA.freeze();
        while (!next.isDone()) {
            assertThat(clock.now().nanos()).isLessThan(Duration.ofSeconds(40).toNanos());
            clock.advance(Duration.ofMillis(100));
            assertThat(old.isHeld() && next.isDone()).isFalse();
        }
        assertThat(old.isHeld()).isFalse();
        assertThat(reasonOf(old)).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(next.join().fencingToken()).isGreaterThan(old.fencingToken());
        // The lock is granted after the lease duration, plus at most a fifth of the last pause between attempts.
        assertThat(clock.now().nanos()).isLessThan(Duration.ofSeconds(32).toNanos());
        faultsOfA.heal();
        assertThat(next.join().isHeld()).isTrue();
        assertThat(old.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(next.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void S02_renewalKeepsALeaseOverManyLeaseDurations() throws Exception {
        Lease lease = a.named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(3)))
                .acquire();
        for (int i = 0; i < 100; i++) {
            clock.advance(Duration.ofSeconds(1));
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.remaining()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
        }
        assertThat(b.named("x").tryAcquire()).isEmpty();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void S02_isHeldIsFalseAtTheFirstCallAfterAPause() throws Exception {
        Lease lease = a.named("x").acquire();
        clock.advanceWithoutTimers(Duration.ofSeconds(30));
        assertThat(lease.isHeld()).isFalse();
        Lease next = b.named("x").tryAcquire().orElseThrow();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(next.isHeld()).isTrue();
        next.close();
    }

    @Test
    void S03_tokensIncreaseAcrossReleasesClientsAndExpiry() throws Exception {
        List<Long> tokens = new ArrayList<>();
        for (LockClient client : List.of(a, b, a)) {
            try (Lease lease = client.named("x").acquire()) {
                tokens.add(lease.fencingToken());
            }
        }
        Lease expired = a.named("x").acquire();
        tokens.add(expired.fencingToken());
        store.faults().expire("x");
        Lease last = b.named("x").acquire();
        tokens.add(last.fencingToken());
        last.close();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void S12_grantsInTheOrderOfTheRequests() throws Exception {
        Lease first = a.named("x").acquire();
        List<Integer> order = new ArrayList<>();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int mine = i;
            all.add((i % 2 == 0 ? a : b).named("x").acquireAsync().thenAccept(lease -> {
                order.add(mine);
                lease.release();
            }));
        }
        assertThat(store.status("x").waiters()).hasSize(10);
        first.close();
        all.forEach(CompletableFuture::join);
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @Test
    void S12_aLongQueueOnADirectExecutorDoesNotExhaustTheStack() throws Exception {
        Lease first = a.named("x").acquire();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            all.add(a.named("x").acquireAsync().thenAccept(Lease::close));
        }
        first.close();
        assertThat(all).allMatch(CompletableFuture::isDone);
    }

    @Test
    void S12_aDeadWaiterIsSkipped() throws Exception {
        Lease held = b.named("x").acquire();
        CompletableFuture<Lease> dead = a.named("x").acquireAsync();
        CompletableFuture<Lease> alive = b.named("x").acquireAsync();
        faultsOfA.freeze();
        clock.advance(Duration.ofSeconds(20));
        held.close();
        assertThat(alive).isCompleted();
        alive.join().close();
        dead.cancel(true);
    }

    @Test
    void S08_aCancelledWaiterLeavesTheQueue() throws Exception {
        Lease held = a.named("x").acquire();
        CompletableFuture<Lease> waiting = b.named("x").acquireAsync();
        assertThat(store.status("x").waiters()).hasSize(1);
        waiting.cancel(true);
        assertThat(store.status("x").waiters()).isEmpty();
        held.close();
    }

    @Test
    void S16_closeReleasesImmediatelyAndNotifiesHoldersAndWaiters() throws Exception {
        Lease held = a.named("x").acquire();
        CompletableFuture<Lease> waitingHere = a.named("x").acquireAsync();
        CompletableFuture<Lease> waitingThere = b.named("x").acquireAsync();
        a.close();
        assertThat(reasonOf(held)).isEqualTo(LossReason.Kind.CLIENT_CLOSED);
        assertThatThrownBy(waitingHere::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(ClientClosedException.class);
        assertThat(waitingThere).isCompleted();
        waitingThere.join().close();
    }

    @Test
    void S18_aForcedReleaseRemovesExactlyTheHolderThatWasSeen() throws Exception {
        Lease held = a.named("x", LockOptions.defaults().metadata(Map.of("job", "nightly")))
                .acquire();
        CompletableFuture<Lease> waiting = b.named("x").acquireAsync();
        LockStatus status = b.named("x").status().join();
        LockHolder seen = status.holders().get(0);
        assertThat(seen.owner()).contains(held.ownerId());
        assertThat(seen.metadata()).containsEntry("job", "nightly");
        assertThat(seen.token()).hasValue(held.fencingToken());
        assertThat(status.waiters()).hasSize(1);

        assertThat(force("x", status.waiters().get(0))).isFalse();
        assertThat(force("x", seen)).isTrue();
        assertThat(reasonOf(held)).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(waiting).isCompleted();
        assertThat(force("x", seen))
                .as("the same holder again, after another one was granted the lock")
                .isFalse();
        assertThat(waiting.join().isHeld()).isTrue();
        waiting.join().close();
    }

    @Test
    void S18_listsByPageAndPrefix() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (String name : List.of("p/1", "p/2", "p/3", "q", "p")) {
            leases.add(a.named(name).acquire());
        }
        List<String> seen = new ArrayList<>();
        String cursor = "";
        do {
            var page = a.admin()
                    .orElseThrow()
                    .list("p/", 2, cursor)
                    .toCompletableFuture()
                    .join();
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(2);
            page.locks().forEach(lock -> seen.add(lock.name()));
            cursor = page.next().orElse("");
        } while (!cursor.isEmpty());
        assertThat(seen).containsExactly("p/1", "p/2", "p/3");
        leases.forEach(Lease::close);
    }

    @Test
    void S17_expiredGrantsOfSilentHoldersAreRemovedAsNewLocksAreAcquired() throws Exception {
        faultsOfA.dropNextRequest(); // the next request of this client, whichever it is
        for (int i = 0; i < 1000; i++) {
            Lease abandoned = b.named("once-" + i).acquire();
            store.faults().freeze();
            clock.advance(Duration.ofMinutes(2));
            assertThat(abandoned.isHeld()).isFalse();
            store.faults().heal();
        }
        assertThat(store.list("", 10_000, "")).isEmpty();
    }

    private boolean force(String name, LockHolder seen) {
        return b.admin()
                .orElseThrow()
                .forceRelease(name, seen)
                .toCompletableFuture()
                .join();
    }

    private static LossReason.Kind reasonOf(Lease lease) {
        return lease.lost().join().kind();
    }
}
