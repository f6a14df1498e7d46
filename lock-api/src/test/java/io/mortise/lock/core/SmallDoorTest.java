// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockClients;
import io.mortise.lock.spi.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A store of three verbs, through the whole core, under a clock cranked by hand. */
class SmallDoorTest {
    private final ManualClock clock = new ManualClock();
    private final MapStore store = new MapStore(clock);
    private final LockClient one = client();
    private final LockClient two = client();

    private LockClient client() {
        return LockClients.over(
                context -> new LeaseStoreBackend(store, context),
                ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).callbackExecutor(Runnable::run),
                clock);
    }

    @Test
    void S01_S03_oneAtATimeAndTokensRise() {
        Lease first = one.named("x").acquireAsync().join();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        clock.advance(Duration.ofMinutes(2));
        assertThat(first.isHeld()).as("renewed").isTrue();
        assertThat(waiting).isNotDone();
        assertThat(first.releaseAsync().join()).isEqualTo(ReleaseOutcome.RELEASED);
        clock.advance(Duration.ofMillis(200));
        assertThat(waiting.join().fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(first.releaseAsync().join()).as("idempotent").isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiting.join().isHeld()).isTrue();
    }

    @Test
    void S07_aSilentHolderIsToldBeforeAnotherIsGranted() {
        Lease first = one.named("x").acquireAsync().join();
        CompletableFuture<LossReason> lost = first.lost().toCompletableFuture();
        store.hung = true;
        clock.advance(Duration.ofSeconds(30));
        assertThat(lost.join().kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(first.remaining()).isZero();
        store.hung = false;
        assertThat(two.named("x").tryAcquireAsync(Duration.ZERO).join()).isPresent();
    }

    @Test
    void S02_falseAtTheFirstCallAfterAPause() {
        Lease lease = one.named("x").acquireAsync().join();
        clock.leap(Duration.ofSeconds(31));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.releaseAsync().join()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(lease.lost().toCompletableFuture()).isDone();
    }

    @Test
    void S08_aRequestThatExecutesAfterTheWithdrawalIsCleanedUp() {
        store.late = Duration.ofSeconds(2);
        CompletableFuture<Optional<Lease>> attempt = one.named("x").tryAcquireAsync(Duration.ZERO);
        assertThat(attempt).isCompletedExceptionally();
        store.late = Duration.ZERO;
        clock.advance(Duration.ofMillis(2_001));
        assertThat(store.rows).as("the late request has executed").hasSize(1);
        clock.advance(Duration.ofSeconds(3));
        assertThat(store.rows).isEmpty();
    }

    @Test
    void S07_maxHoldAndOnExpiring() {
        List<String> told = new ArrayList<>();
        Lease lease = one.named("x", LockOptions.defaults().maxHold(Duration.ofSeconds(40)))
                .acquireAsync()
                .join();
        lease.onExpiring(Duration.ofSeconds(5), () -> told.add("expiring at " + clock.nanoTime() / 1_000_000_000));
        lease.lost().thenAccept(reason -> told.add(reason.kind() + " at " + clock.nanoTime() / 1_000_000_000));
        clock.advance(Duration.ofMinutes(1));
        assertThat(told).containsExactly("expiring at 35", "MAX_HOLD at 40");
        assertThat(store.rows).isEmpty();
    }

    @Test
    void S12_waitersOfOneProcessAreFirstInFirstOut() {
        Lease held = one.named("x").acquireAsync().join();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int each = i;
            one.named("x").acquireAsync().thenAccept(lease -> {
                order.add(each);
                lease.releaseAsync();
            });
        }
        long before = store.requests.get();
        held.releaseAsync();
        clock.advance(Duration.ofSeconds(1));
        assertThat(order).containsExactly(0, 1, 2, 3, 4);
        assertThat(store.requests.get() - before).as("one contender at a time").isLessThan(30);
    }

    @Test
    void S15_thousandsOfWaitersFailTogetherWhenTheStoreIsGone() {
        store.hung = true;
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            waiting.add(one.named("x").acquireAsync());
        }
        clock.advance(Duration.ofSeconds(32));
        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(((CoreClient) one).queues.size()).isZero();
    }

    @Test
    void S17_nothingIsLeftAfterClose() {
        Lease held = one.named("x").acquireAsync().join();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        one.close();
        assertThat(held.isHeld()).isFalse();
        two.close();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(store.rows).isEmpty();
        assertThat(clock.timers()).isZero();
    }

    @Test
    void backoffDoublesWithJitterUpToItsLimit() {
        Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1), new java.util.Random(1));
        long least = 50;
        for (int i = 0; i < 40; i++) {
            assertThat(backoff.next().toMillis()).isBetween(least, least + least / 5);
            least = Math.min(1_000, least * 2);
        }
        backoff.reset();
        assertThat(backoff.next().toMillis()).isBetween(50L, 60L);
    }
}
