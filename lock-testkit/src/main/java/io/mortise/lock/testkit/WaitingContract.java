// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract of bounded waiting (S09), wake-up (S11) and order (S12). */
interface WaitingContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S09_aBoundedWaitEndsAtItsBound(ApiStyle style) throws Exception {
        Duration maxWait = Duration.ofMillis(400);
        try (Lease held = fixture().client().named("x").acquire()) {
            DistributedLock lock = fixture().client().named("x");
            AtomicBoolean busy = new AtomicBoolean();
            DurationAssertions.overshoot("beyond maxWait", ContractFixture.PROMPT, Duration.ofMillis(50), () -> {
                long start = System.nanoTime();
                if (ContractFixture.waitInVain(style, lock, maxWait)) {
                    busy.set(true);
                }
                Duration took = DurationAssertions.since(start);
                assertThat(took).as("a wait that the lock was busy").isGreaterThanOrEqualTo(maxWait);
                return took.minus(maxWait);
            });
            assertThat(busy).as("told that it is busy").isTrue();
            assertThat(held.isHeld()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S09_zeroIsOneAttempt(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        try (Lease held = fixture().client().named("x").acquire()) {
            DurationAssertions.overshoot("one attempt", ContractFixture.PROMPT, Duration.ofMillis(250), () -> {
                long start = System.nanoTime();
                assertThat(style.tryAcquire(client.named("x"), Duration.ZERO)).isEmpty();
                return DurationAssertions.since(start);
            });
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(style.tryAcquire(client.named("x"), Duration.ZERO)).hasValueSatisfying(Lease::close);
        assertThat(client.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
    }

    /** Busy means that somebody holds it, not that the client has yet to ask. */
    @ParameterizedTest
    @EnumSource
    default void S09_aFreeLockIsHadAtTheFirstAttempt(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        for (String name : List.of("first", "second", "third")) {
            assertThat(style.tryAcquire(client.named(name), Duration.ZERO))
                    .as("the %s lock that this client asks for", name)
                    .hasValueSatisfying(Lease::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S11_aReleaseWakesTheNextWaiter(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractFixture.onlyIf(one, Capability.PUSH);
        DurationAssertions.overshoot("from release to grant", ContractFixture.PROMPT, Duration.ofMillis(250), () -> {
            Lease held = one.named("x").acquire();
            Future<Long> waiting = fixture().start(() -> {
                Lease lease = style.acquire(two.named("x"));
                long granted = System.nanoTime();
                lease.close();
                return granted;
            });
            ContractFixture.awaitWaiters(one, "x", 1);
            long start = System.nanoTime();
            held.close();
            return Duration.ofNanos(ApiStyle.result(waiting) - start);
        });
    }

    @Test
    default void S11_aForcedReleaseWakesTheNextWaiter() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractFixture.onlyIf(one, Capability.PUSH);
        LockAdmin admin = ContractFixture.admin(fixture().client(), "S11 after a forced release");
        DurationAssertions.overshoot(
                "from forced release to grant", ContractFixture.PROMPT, Duration.ofMillis(250), () -> {
                    one.named("x").acquire();
                    CompletableFuture<Long> granted = two.named("x")
                            .acquireAsync()
                            .thenApply(lease -> {
                                long now = System.nanoTime();
                                lease.releaseAsync();
                                return now;
                            });
                    ContractFixture.awaitWaiters(one, "x", 1);
                    LockHolder seen =
                            ContractFixture.status(admin, "x").holders().get(0);
                    long start = System.nanoTime();
                    assertThat(ContractFixture.await(admin.forceRelease("x", seen)))
                            .isTrue();
                    return Duration.ofNanos(ApiStyle.result(granted) - start);
                });
    }

    /** The hint goes to the first in the queue just when it leaves: it must not be lost to those behind. */
    @Test
    default void S11_aWaiterThatLeavesPassesTheHintOn() throws Exception {
        LockClient holder = fixture().client();
        LockClient leaver = fixture().client();
        LockClient stayer = fixture().client();
        ContractFixture.onlyIf(holder, Capability.PUSH);
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < 50; i++) {
            Lease held = ApiStyle.result(holder.named("x").acquireAsync());
            CompletableFuture<Lease> leaving = leaver.named("x").acquireAsync();
            ContractFixture.awaitWaiters(holder, "x", 1);
            CompletableFuture<Lease> staying = stayer.named("x").acquireAsync();
            ContractFixture.awaitWaiters(holder, "x", 2);
            Future<?> release = fixture().releaseMeanwhile(held, i, spread);
            if (!leaving.cancel(true)) {
                leaving.join().close();
            }
            ContractFixture.eventually("the waiter that stays is granted", ContractFixture.PROMPT, staying::isDone);
            staying.join().close();
            ApiStyle.result(release);
        }
    }

    /** Asked for by one thread one after another, so the order is known without reading the store. */
    @Test
    default void S12_oneClientIsGrantedInTheOrderOfAsking() throws Exception {
        LockClient client = fixture().client();
        ContractFixture.onlyIf(client, Capability.FAIR);
        Lease held = client.named("x").acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int mine = i;
            all.add(client.named("x").acquireAsync().thenAccept(lease -> {
                order.add(mine);
                lease.releaseAsync();
            }));
        }
        held.close();
        for (CompletableFuture<?> one : all) {
            ApiStyle.result(one);
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @ParameterizedTest
    @EnumSource
    default void S12_clientsAreGrantedInTheOrderOfArrival(ApiStyle style) throws Exception {
        List<LockClient> clients =
                List.of(fixture().client(), fixture().client(), fixture().client());
        ContractFixture.onlyIf(clients.get(0), Capability.FAIR);
        ContractFixture.admin(clients.get(0), "S12 among clients");
        Lease held = clients.get(0).named("x").acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Future<?>> all = new ArrayList<>();
        // One waiter per client: further ones of a process may stand where the store does not see them.
        for (int i = 1; i <= clients.size(); i++) {
            int mine = i;
            DistributedLock lock = clients.get(i % clients.size()).named("x");
            all.add(fixture().start(() -> {
                Lease lease = style.acquire(lock);
                order.add(mine);
                return style.release(lease);
            }));
            ContractFixture.awaitWaiters(clients.get(0), "x", i);
        }
        held.close();
        for (Future<?> one : all) {
            ApiStyle.result(one);
        }
        assertThat(order).containsExactly(1, 2, 3);
    }

    @Test
    default void S12_aWaiterThatLeftIsSkipped() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease held = one.named("x").acquire();
        CompletableFuture<Lease> first = fixture().client().named("x").acquireAsync();
        CompletableFuture<Lease> second = one.named("x").acquireAsync();
        CompletableFuture<Lease> third = two.named("x").acquireAsync();
        first.cancel(true);
        two.close(); // takes the third with it
        held.close();
        ContractFixture.eventually("the next is granted", ContractFixture.PROMPT, second::isDone);
        second.join().close();
        ContractFixture.eventually(
                "the one of the closed client failed", ContractFixture.PROMPT, third::isCompletedExceptionally);
    }
}
