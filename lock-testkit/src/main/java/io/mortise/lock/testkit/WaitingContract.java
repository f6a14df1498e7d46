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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that waits end at their limit, a release wakes the next waiter, and grants follow the queue order.
 *
 * <p>Rules S09, S11, S12.
 */
interface WaitingContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S09_aBoundedWaitEndsAtItsBound(ApiStyle style) throws Exception {
        Duration maxWait = Duration.ofMillis(400);
        try (Lease held = fixture().client().named("x").acquire()) {
            DistributedLock lock = fixture().client().named("x");
            AtomicBoolean busy = new AtomicBoolean();
            DurationAssertions.overshoot("beyond maxWait", ContractTestFixture.PROMPT, Duration.ofMillis(50), () -> {
                long start = System.nanoTime();
                if (ContractTestFixture.assertWaitFails(style, lock, maxWait)) {
                    busy.set(true);
                }
                Duration took = DurationAssertions.since(start);
                assertThat(took).as("length of the wait").isGreaterThanOrEqualTo(maxWait);
                return took.minus(maxWait);
            });
            assertThat(busy).as("reported as busy at least once").isTrue();
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** All waits at once, while another client holds the lock: the longest is longer than the slow timer of S11. */
    @Test
    default void S09_waitsOfManyLengthsEndAtTheirLimit() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        Map<Duration, Future<Duration>> waits = new LinkedHashMap<>();
        for (Duration limit : List.of(
                Duration.ofNanos(1),
                Duration.ofNanos(999_999),
                Duration.ofMillis(17),
                Duration.ofMillis(999),
                Duration.ofMillis(2_345),
                Duration.ofMillis(7_250))) {
            for (ApiStyle style : ApiStyle.values()) {
                Duration maxWait = style == ApiStyle.SYNC ? limit : limit.plusNanos(1);
                waits.put(maxWait, fixture().start(() -> {
                    long start = System.nanoTime();
                    boolean busy = ContractTestFixture.assertWaitFails(style, waiter.named("x"), maxWait);
                    Duration took = DurationAssertions.since(start);
                    assertThat(busy || limit.toMillis() < 900)
                            .as("S15: busy after %s", limit)
                            .isTrue();
                    return took;
                }));
            }
        }
        for (Map.Entry<Duration, Future<Duration>> wait : waits.entrySet()) {
            assertThat(ApiStyle.result(wait.getValue()))
                    .as("S09: a wait of %s", wait.getKey())
                    .isBetween(wait.getKey(), wait.getKey().plus(ContractTestFixture.PROMPT));
        }
        assertThat(held.isHeld()).isTrue();
        held.close();
        fixture().assertFree(holder, "x");
    }

    /** Limits so long that they overflow a sum or a number of nanoseconds. */
    @Test
    default void S09_aVeryLongWaitWaits() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        Lease held = holder.named("x").acquire();
        List<CompletableFuture<Optional<Lease>>> waits = new ArrayList<>();
        for (Duration limit : List.of(
                Duration.ofDays(3),
                Duration.ofDays(30_000),
                Duration.ofSeconds(Integer.MAX_VALUE),
                Duration.ofNanos(Long.MAX_VALUE),
                Duration.ofDays(400_000),
                Duration.ofSeconds(Long.MAX_VALUE, 999_999_999))) {
            waits.add(waiter.named("x").tryAcquireAsync(limit));
        }
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        assertThat(waits).as("the waits, while the lock is held").noneMatch(Future::isDone);
        held.close();
        for (CompletableFuture<Optional<Lease>> wait : waits) {
            wait.thenAccept(lease -> lease.orElseThrow().releaseAsync());
        }
        for (CompletableFuture<Optional<Lease>> wait : waits) {
            assertThat(ApiStyle.result(wait)).isPresent();
        }
        fixture().assertFree(holder, "x");
    }

    @ParameterizedTest
    @EnumSource
    default void S09_zeroIsOneAttempt(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        try (Lease held = fixture().client().named("x").acquire()) {
            DurationAssertions.overshoot("one attempt", ContractTestFixture.PROMPT, Duration.ofMillis(250), () -> {
                long start = System.nanoTime();
                assertThat(style.tryAcquire(client.named("x"), Duration.ZERO)).isEmpty();
                return DurationAssertions.since(start);
            });
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(style.tryAcquire(client.named("x"), Duration.ZERO)).hasValueSatisfying(Lease::close);
        assertThat(client.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
    }

    /** Busy means that another client holds the lock, not that this client has not sent a request yet. */
    @ParameterizedTest
    @EnumSource
    default void S09_aFreeLockIsGrantedAtTheFirstAttempt(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        for (String name : List.of("first", "second", "third")) {
            assertThat(style.tryAcquire(client.named(name), Duration.ZERO))
                    .as("the %s lock that this client acquires", name)
                    .hasValueSatisfying(Lease::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S11_aReleaseWakesTheNextWaiter(ApiStyle style) throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.PUSH);
        DurationAssertions.overshoot(
                "from release to grant", ContractTestFixture.PROMPT, Duration.ofMillis(250), () -> {
                    Lease held = one.named("x").acquire();
                    Future<Long> waiting = fixture().start(() -> {
                        Lease lease = style.acquire(two.named("x"));
                        long granted = System.nanoTime();
                        lease.close();
                        return granted;
                    });
                    ContractTestFixture.awaitWaiters(one, "x", 1);
                    long start = System.nanoTime();
                    held.close();
                    return Duration.ofNanos(ApiStyle.result(waiting) - start);
                });
    }

    /** One client waits for several locks, which are released at the same moment. */
    @Test
    default void S11_locksThatAreReleasedTogetherWakeEachWaiter() throws Exception {
        LockClient holder = fixture().client();
        LockClient waiter = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.PUSH);
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(holder.named("x" + i).acquire());
            waiting.add(waiter.named("x" + i).acquireAsync());
            ContractTestFixture.awaitWaiters(holder, "x" + i, 1);
        }
        long start = System.nanoTime();
        held.forEach(Lease::releaseAsync);
        for (CompletableFuture<Lease> each : waiting) {
            Lease next = ApiStyle.result(each);
            assertThat(DurationAssertions.since(start))
                    .as("S11: from the releases to the grant of \"%s\"", next.lockName())
                    .isLessThan(ContractTestFixture.PROMPT);
            next.releaseAsync();
        }
    }

    @Test
    default void S11_aForcedReleaseWakesTheNextWaiter() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ContractTestFixture.onlyIf(one, Capability.PUSH);
        LockAdmin admin = ContractTestFixture.admin(fixture().client(), "S11 after a forced release");
        DurationAssertions.overshoot(
                "from forced release to grant", ContractTestFixture.PROMPT, Duration.ofMillis(250), () -> {
                    one.named("x").acquire();
                    CompletableFuture<Long> granted = two.named("x")
                            .acquireAsync()
                            .thenApply(lease -> {
                                long now = System.nanoTime();
                                lease.releaseAsync();
                                return now;
                            });
                    ContractTestFixture.awaitWaiters(one, "x", 1);
                    LockHolder seen =
                            ContractTestFixture.status(admin, "x").holders().get(0);
                    long start = System.nanoTime();
                    assertThat(ContractTestFixture.await(admin.forceRelease("x", seen)))
                            .isTrue();
                    return Duration.ofNanos(ApiStyle.result(granted) - start);
                });
    }

    /** The hint is sent to the first waiter just when it withdraws: the waiters behind it must still be woken. */
    @Test
    default void S11_aWithdrawnWaiterPassesTheHintOn() throws Exception {
        LockClient holder = fixture().client();
        LockClient withdrawing = fixture().client();
        LockClient remaining = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.PUSH);
        Duration spread = fixture().releaseTime(holder);
        for (int i = 0; i < 50; i++) {
            Lease held = ApiStyle.result(holder.named("x").acquireAsync());
            CompletableFuture<Lease> withdrawn = withdrawing.named("x").acquireAsync();
            ContractTestFixture.awaitWaiters(holder, "x", 1);
            CompletableFuture<Lease> staying = remaining.named("x").acquireAsync();
            ContractTestFixture.awaitWaiters(holder, "x", 2);
            Future<?> release = fixture().releaseConcurrently(held, i, spread);
            if (!withdrawn.cancel(true)) {
                withdrawn.join().close();
            }
            ContractTestFixture.eventually(
                    "the waiter that stays is granted", ContractTestFixture.PROMPT, staying::isDone);
            staying.join().close();
            ApiStyle.result(release);
        }
    }

    /** One thread sends the requests sequentially, so the order is known without reading the store. */
    @Test
    default void S12_oneClientIsGrantedInRequestOrder() throws Exception {
        LockClient client = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.FAIR);
        Lease held = client.named("x").acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            all.add(client.named("x").acquireAsync().thenAccept(lease -> {
                order.add(number);
                lease.releaseAsync();
            }));
        }
        held.close();
        ApiStyle.awaitAll(all);
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @ParameterizedTest
    @EnumSource
    default void S12_clientsAreGrantedInTheOrderOfArrival(ApiStyle style) throws Exception {
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < 12; i++) { // more than ten, so that positions have two digits
            clients.add(fixture().client());
        }
        ContractTestFixture.onlyIf(clients.get(0), Capability.FAIR);
        Lease held = clients.get(0).named("x").acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Future<?>> all = new ArrayList<>();
        // One waiter per client: further waiters of a client may be in a local queue that the store does not see.
        for (int i = 1; i <= clients.size(); i++) {
            int number = i;
            LockClient client = clients.get(i % clients.size());
            DistributedLock lock = client.named("x");
            all.add(fixture().start(() -> {
                Lease lease = style.acquire(lock);
                order.add(number);
                return style.release(lease);
            }));
            fixture().awaitWaiter(client, "x", i);
        }
        held.close();
        ApiStyle.awaitAll(all);
        assertThat(order)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, clients.size()).boxed().toList());
    }

    @Test
    default void S12_aWithdrawnWaiterIsSkipped() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        Lease held = one.named("x").acquire();
        CompletableFuture<Lease> first = fixture().client().named("x").acquireAsync();
        CompletableFuture<Lease> second = one.named("x").acquireAsync();
        CompletableFuture<Lease> third = two.named("x").acquireAsync();
        first.cancel(true);
        two.close(); // ends the third wait
        held.close();
        ContractTestFixture.eventually(
                "the next waiter is granted the lock", ContractTestFixture.PROMPT, second::isDone);
        second.join().close();
        ContractTestFixture.eventually(
                "the waiter of the closed client failed", ContractTestFixture.PROMPT, third::isCompletedExceptionally);
    }
}
