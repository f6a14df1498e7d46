// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that an event at one lock, waiter, lease or client, such as a loss or a cancellation, does not affect another one.
 *
 * <p>Rules S05, S06, S07, S08, S09, S10, S11, S12, S16. Each test has two or more of a thing, and also looks at those that
 * nothing happened to.
 */
interface BystanderContract extends Contract {
    @ParameterizedTest
    @EnumSource
    default void S11_aReleaseWakesOneWaiterOfItsOwnLock(ApiStyle style) throws Exception {
        LockClient holder = fixture().client();
        List<LockClient> clients = List.of(fixture().client(), fixture().client());
        List<String> names = List.of("first", "second");
        List<Lease> held = new ArrayList<>();
        for (String name : names) {
            held.add(style.acquire(holder.named(name)));
        }
        List<List<CompletableFuture<Lease>>> waiting = new ArrayList<>();
        for (String name : names) {
            List<CompletableFuture<Lease>> ofName = new ArrayList<>();
            for (LockClient client : clients) {
                ofName.add(client.named(name).acquireAsync());
                ContractTestFixture.awaitWaiters(holder, name, ofName.size());
            }
            waiting.add(ofName);
        }
        for (int lock = 0; lock < names.size(); lock++) {
            List<CompletableFuture<Lease>> ofLock = waiting.get(lock);
            style.release(held.get(lock));
            for (int round = 1; round <= clients.size(); round++) {
                int expected = round;
                ContractTestFixture.eventually(
                        "waiter %d of lock \"%s\" is granted it".formatted(round, names.get(lock)),
                        ContractTestFixture.LONG,
                        () -> ofLock.stream().filter(CompletableFuture::isDone).count() == expected);
                if (lock == 0) {
                    assertThat(waiting.get(1))
                            .as("S01: waiters of the other lock")
                            .noneMatch(Future::isDone);
                    assertThat(held.get(1).isHeld()).isTrue();
                }
                Lease granted = ofLock.stream()
                        .filter(CompletableFuture::isDone)
                        .map(CompletableFuture::join)
                        .filter(Lease::isHeld)
                        .findAny()
                        .orElseThrow(() -> new AssertionError("S11: the waiter that was woken holds no lease"));
                assertThat(style.release(granted)).isEqualTo(ReleaseOutcome.RELEASED);
            }
        }
        for (String name : names) {
            fixture().assertFree(holder, name);
        }
    }

    /** Waiters leave the middle and the end of the queue, each in another way; the first and the last but one stay. */
    @Test
    default void S10_waitersThatLeaveTheMiddleOfTheQueueDelayNobody() throws Exception {
        LockClient holder = fixture().client();
        LockClient shared = fixture().client();
        LockClient closing = fixture().client();
        LockClient other = fixture().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> first = shared.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        CompletableFuture<Lease> cancelled = shared.named("x").acquireAsync();
        CompletableFuture<Lease> closed = closing.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 2);
        Future<Optional<Lease>> interrupted =
                fixture().start(() -> other.named("x").tryAcquire(ContractTestFixture.LONG));
        CompletableFuture<Optional<Lease>> timedOut = shared.named("x").tryAcquireAsync(Duration.ofSeconds(1));
        ContractTestFixture.awaitWaiters(holder, "x", 3);
        CompletableFuture<Lease> last = fixture().client().named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 4);
        CompletableFuture<Lease> expired = shared.named("x").acquireAsync();
        expired.orTimeout(50, TimeUnit.MILLISECONDS);
        assertThat(cancelled.cancel(true)).isTrue();
        interrupted.cancel(true);
        closing.close();
        assertThat(ApiStyle.result(timedOut)).isEmpty();
        assertThatThrownBy(() -> ApiStyle.result(closed)).isInstanceOf(ClientClosedException.class);
        ContractTestFixture.eventually("the timeout has ended the wait", ContractTestFixture.PROMPT, expired::isDone);
        if (holder.capabilities().contains(Capability.FAIR) && holder.admin().isPresent()) {
            LockAdmin admin = holder.admin().orElseThrow();
            ContractTestFixture.eventually(
                    "S10: two waiters are shown",
                    ContractTestFixture.PROMPT,
                    () -> ContractTestFixture.status(admin, "x").waiters().size() == 2);
        }
        assertThat(List.of(first.isDone(), last.isDone()))
                .as("the waiters that stay, while the lock is held")
                .containsOnly(false);
        assertThat(held.isHeld()).isTrue();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Duration bound = ContractTestFixture.PROMPT.multipliedBy(2);
        if (holder.capabilities().contains(Capability.FAIR)) {
            ContractTestFixture.eventually("S12: the first waiter is granted the lock", bound, first::isDone);
            assertThat(last).as("S01: the last waiter").isNotDone();
            assertThat(first.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
            ContractTestFixture.eventually("S11: the last waiter is granted the lock", bound, last::isDone);
            last.join().close();
        } else {
            first.thenAccept(Lease::releaseAsync);
            last.thenAccept(Lease::releaseAsync);
            ContractTestFixture.eventually(
                    "S11: both waiters are granted the lock", bound, () -> first.isDone() && last.isDone());
        }
        fixture().assertFree(holder, "x");
    }

    /** Waits of one client for one lock, of which each has its own limit. */
    @ParameterizedTest
    @EnumSource
    default void S09_eachWaiterHasItsOwnLimit(ApiStyle style) throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        Future<Optional<Lease>> patient =
                fixture().start(() -> style.tryAcquire(client.named("x"), ContractTestFixture.LONG));
        ContractTestFixture.awaitWaiters(other, "x", 1);
        for (Duration limit : List.of(Duration.ofMillis(700), Duration.ofMillis(150))) {
            ContractTestFixture.assertWaitFails(style, client.named("x"), limit);
        }
        assertThat(patient.isDone()).as("the longer wait has ended").isFalse();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Optional<Lease> lease = ApiStyle.result(patient);
        assertThat(lease).as("the longer wait").isPresent();
        assertThat(style.release(lease.orElseThrow())).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** One of three clients closes; each holds two locks and waits for one of each of the others. */
    @Test
    default void S16_closingOneClientSparesTheLeasesAndWaitersOfTheOthers() throws Exception {
        List<LockClient> clients =
                List.of(fixture().client(), fixture().client(), fixture().client());
        LockClient closing = clients.get(1);
        List<Lease> leases = new ArrayList<>();
        List<List<LossReason>> losses = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LockClient client = clients.get(i / 2);
            Lease lease = client.named("x" + i, fixture().shortLease(client)).acquire();
            List<LossReason> ofLease = new CopyOnWriteArrayList<>();
            lease.lost().thenAccept(ofLease::add);
            leases.add(lease);
            losses.add(ofLease);
        }
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LockClient waiter = clients.get((i / 2 + 1 + i % 2) % 3);
            waiting.add(waiter.named("x" + i, fixture().shortLease(waiter)).acquireAsync());
            ContractTestFixture.awaitWaiters(clients.get(0), "x" + i, 1);
        }
        closing.close();
        for (int i : new int[] {2, 3}) {
            assertThat(ApiStyle.result(waiting.get(i)).isHeld())
                    .as("S11: the waiter for a lock of the closed client")
                    .isTrue();
        }
        for (int i : new int[] {0, 5}) { // those of the closed client
            assertThatThrownBy(() -> ApiStyle.result(waiting.get(i))).isInstanceOf(ClientClosedException.class);
        }
        Duration lease = fixture().backend().lease();
        ContractTestFixture.throughout(
                "more than a lease passes", lease.multipliedBy(3).dividedBy(2), () -> {
                    for (int i : new int[] {0, 1, 4, 5}) {
                        assertThat(leases.get(i).isHeld())
                                .as("S07: lease %d, of a client that is open; announced: %s", i, losses.get(i))
                                .isTrue();
                        assertThat(losses.get(i)).isEmpty();
                    }
                    assertThat(List.of(waiting.get(1).isDone(), waiting.get(4).isDone()))
                            .as("S01: waiters for locks that are held")
                            .containsOnly(false);
                });
        assertThat(List.of(losses.get(2), losses.get(3)))
                .allSatisfy(told ->
                        assertThat(told).extracting(LossReason::kind).containsExactly(LossReason.Kind.CLIENT_CLOSED));
        for (int i : new int[] {1, 4}) {
            assertThat(leases.get(i).release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(ApiStyle.result(waiting.get(i)).release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        for (int i : new int[] {0, 5}) {
            assertThat(leases.get(i).release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        for (int i : new int[] {2, 3}) {
            assertThat(waiting.get(i).join().release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        for (int i = 0; i < 6; i++) {
            fixture().assertFree(clients.get(0), "x" + i);
        }
    }

    /** Two of three leases have a maximum hold, one of them longer than a lease duration. */
    @Test
    default void S07_eachLeaseHasItsOwnMaximumHold() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        Duration brief = Duration.ofMillis(350);
        Duration renewed = lease.multipliedBy(3).dividedBy(2).plusMillis(77);
        LockOptions options = fixture().shortLease(client);
        long start = System.nanoTime();
        Lease first = client.named("brief", options.maxHold(brief)).acquire();
        Lease second = client.named("renewed", options.maxHold(renewed)).acquire();
        Lease third = client.named("unlimited", options).acquire();
        CompletableFuture<Long> firstLost = first.lost().thenApply(reason -> System.nanoTime() - start);
        CompletableFuture<Long> secondLost = second.lost().thenApply(reason -> System.nanoTime() - start);
        CompletableFuture<Lease> waiting = other.named("renewed", options).acquireAsync();
        assertThat(first.remaining()).isLessThanOrEqualTo(brief);
        assertThat(second.remaining()).isLessThanOrEqualTo(lease);
        assertThat(Duration.ofNanos(ApiStyle.result(firstLost)))
                .as("until the shorter maximum hold")
                .isBetween(brief.minusMillis(1), brief.plus(ContractTestFixture.PROMPT));
        assertThat(List.of(second.isHeld(), third.isHeld()))
                .as("the other leases")
                .containsOnly(true);
        assertThat(Duration.ofNanos(ApiStyle.result(secondLost)))
                .as("until the longer maximum hold")
                .isBetween(renewed.minusMillis(1), renewed.plus(ContractTestFixture.PROMPT));
        assertThat(second.isHeld()).isFalse();
        assertThat(ApiStyle.result(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(third.isHeld()).as("the lease without a maximum").isTrue();
        assertThat(second.lost().join().kind()).isEqualTo(LossReason.Kind.MAX_HOLD);
        assertThat(third.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** All calls, on several threads at once, report one outcome, and the next owner is spared. */
    @Test
    default void S05_concurrentReleasesOfOneLeaseHaveOneOutcome() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        for (int round = 0; round < 20; round++) {
            Lease lease = client.named("x").acquire();
            Lease kept = client.named("y").acquire();
            CompletableFuture<Lease> waiting = other.named("x").acquireAsync();
            List<Future<ReleaseOutcome>> releasing = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                releasing.add(fixture().start(lease::release));
                releasing.add(lease.releaseAsync());
            }
            for (Future<ReleaseOutcome> one : releasing) {
                assertThat(ApiStyle.result(one)).isEqualTo(ReleaseOutcome.RELEASED);
            }
            Lease next = ApiStyle.result(waiting);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(client.named("x").tryAcquire())
                    .as("the successor's lock")
                    .isEmpty();
            assertThat(List.of(next.isHeld(), kept.isHeld())).containsOnly(true);
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** The waiters wait for several leases, and longer than any slow timer, so that each has asked again many times. */
    @Test
    @Timeout(120)
    default void S12_aWaiterKeepsItsPlaceHoweverOftenItAsksAgain() throws Exception {
        LockClient holder = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.FAIR);
        List<LockOptions> options = holder.capabilities().contains(Capability.PER_LOCK_LEASE)
                        && ContractTestFixture.grants(holder, Duration.ofSeconds(1))
                ? List.of(
                        LockOptions.defaults().leaseDuration(Duration.ofSeconds(1)), // asks most often
                        fixture().shortLease(holder),
                        LockOptions.defaults())
                : List.of(LockOptions.defaults(), LockOptions.defaults(), LockOptions.defaults());
        Lease held = holder.named("x").acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < options.size(); i++) {
            int number = i;
            all.add(fixture().client().named("x", options.get(i)).acquireAsync().thenCompose(lease -> {
                order.add(number);
                return lease.releaseAsync();
            }));
            ContractTestFixture.awaitWaiters(holder, "x", i + 1);
        }
        // Longer than slow timers, and shortly before the third time that the last waiter asks again, every 5 to 6 s.
        ContractTestFixture.letPass("a long time passes", Duration.ofMillis(15_200));
        all.add(fixture().client().named("x").acquireAsync().thenCompose(lease -> {
            order.add(3); // a young waiter
            return lease.releaseAsync();
        }));
        ContractTestFixture.awaitWaiters(holder, "x", 4);
        assertThat(order).isEmpty();
        held.close();
        ApiStyle.awaitAll(all);
        assertThat(order).as("S12: order of the grants").containsExactly(0, 1, 2, 3);
    }

    /** Several waiters of several clients, queued in turn: none is overtaken by one that came after it. */
    @Test
    default void S12_clientsWithSeveralWaitersTakeTurns() throws Exception {
        LockClient holder = fixture().client();
        ContractTestFixture.onlyIf(holder, Capability.FAIR);
        List<LockClient> clients = List.of(fixture().client(), fixture().client());
        Lease held = holder.named("x").acquire();
        List<String> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int turn = 1; turn <= 4; turn++) {
            for (int client = 0; client < clients.size(); client++) {
                String waiter = "client " + client + ", waiter " + turn;
                all.add(clients.get(client).named("x").acquireAsync().thenCompose(lease -> {
                    order.add(waiter);
                    return lease.releaseAsync();
                }));
                if (turn == 1) {
                    ContractTestFixture.awaitWaiters(holder, "x", client + 1);
                }
            }
        }
        held.close();
        ApiStyle.awaitAll(all);
        for (int client = 0; client < clients.size(); client++) {
            String prefix = "client " + client + ", waiter ";
            assertThat(order.stream().filter(waiter -> waiter.startsWith(prefix)))
                    .as("S12: order within one client")
                    .containsExactly(prefix + 1, prefix + 2, prefix + 3, prefix + 4);
        }
        int before = order.indexOf("client 0, waiter 4");
        assertThat(order.indexOf("client 1, waiter 1"))
                .as("S12: waiters of one client do not starve those of another; the order was %s", order)
                .isLessThan(before);
    }

    /**
     * Two waiters of one client, which may queue behind each other in the client: the second one follows when the first
     * leaves.
     */
    @ParameterizedTest
    @ValueSource(strings = {"cancel", "timeout", "interrupt"})
    default void S10_theSecondWaiterOfAClientFollowsWhenTheFirstLeaves(String way) throws Exception {
        LockClient holder = fixture().client();
        LockClient client = fixture().client();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> first = client.named("x").acquireAsync();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<Optional<Lease>> blocked = fixture().start(() -> {
            thread.complete(Thread.currentThread());
            return way.equals("interrupt") ? client.named("x").tryAcquire(ContractTestFixture.LONG) : Optional.empty();
        });
        Thread blockedThread = ApiStyle.result(thread);
        if (way.equals("interrupt")) {
            ContractTestFixture.eventually(
                    "the thread waits", ContractTestFixture.LONG, () -> ContractTestFixture.isWaiting(blockedThread));
        }
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        CompletableFuture<Lease> second = client.named("x").acquireAsync();
        CompletableFuture<Lease> third = client.named("x").acquireAsync();
        if (way.equals("interrupt")) {
            blockedThread.interrupt();
            assertThatThrownBy(() -> ApiStyle.result(blocked)).hasRootCauseInstanceOf(InterruptedException.class);
        }
        if (way.equals("timeout")) {
            first.orTimeout(1, TimeUnit.MILLISECONDS);
            ContractTestFixture.eventually("the wait has ended", ContractTestFixture.PROMPT, first::isDone);
        } else {
            first.cancel(true);
        }
        assertThat(second).as("S01: while the lock is held").isNotDone();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        for (CompletableFuture<Lease> one : List.of(second, third)) {
            ContractTestFixture.eventually(
                    "S11: a waiter that stayed is granted the lock",
                    ContractTestFixture.PROMPT,
                    () -> second.isDone() || third.isDone());
            one.thenAccept(Lease::releaseAsync);
        }
        ContractTestFixture.eventually(
                "S11: both are granted the lock",
                ContractTestFixture.PROMPT.multipliedBy(2),
                () -> second.isDone() && third.isDone());
        fixture().assertFree(holder, "x");
    }
}
