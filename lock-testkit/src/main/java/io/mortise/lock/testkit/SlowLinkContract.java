// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that leases and time limits hold over a link with high latency. Needs a {@link Faults#link} that can be delayed. */
interface SlowLinkContract extends Contract {
    /** The longest time that one call takes over the slow link, with all its round trips. */
    Duration SLOW_CALL = Duration.ofMillis(200);

    /** The delay of a request that is executed long after its request timeout. */
    Duration LATE = Duration.ofSeconds(2);

    ClientOptions IMPATIENT =
            ClientOptions.defaults().requestTimeout(Duration.ofMillis(500)).unavailableAfter(ContractTestFixture.LONG);

    /** Returns the latency of a link over which a call takes up to {@link #SLOW_CALL}. */
    private Duration roundTrip() {
        return SLOW_CALL.dividedBy(fixture().backend().roundTripsPerCall());
    }

    /** One scenario, since it takes longer than a lease: checks S02, and that high latency alone loses no lease (S07). */
    @Test
    default void S02_theDeadlineCountsFromTheSendAndASlowLinkLosesNoLease() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().delay(slow, roundTrip().dividedBy(2), "S02 on a slow link");
        Lease held = slow.named("x", fixture().shortLease(slow)).acquire();
        // The request that proves the lease was sent one round trip before its reply, whether that reply is the grant
        // or not.
        Duration remaining = held.remaining();
        assertThat(remaining).isLessThanOrEqualTo(lease.minus(roundTrip()));
        assertThat(remaining).as("a usable lease").isGreaterThan(Duration.ZERO);
        ContractTestFixture.throughout(
                "more than a lease has passed", lease.multipliedBy(9).dividedBy(8), () -> {
                    assertThat(held.isHeld())
                            .as(
                                    "S07: a slow link must not lose the lease; round trip of the link %s, lease %s, renewals answered: %s",
                                    roundTrip(), lease, fixture().recorder().renewals(slow))
                            .isTrue();
                    assertThat(held.remaining()).isLessThanOrEqualTo(lease.minus(roundTrip()));
                });
        assertThat(other.named("x").tryAcquire()).isEmpty();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }

    /** The renewal of one lease is sent while that of another one is under way. */
    @Test
    default void S02_renewalsThatOverlapCountFromTheirOwnSends() throws Exception {
        LockClient slow = fixture().client();
        Duration lease = fixture().backend().lease();
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 2; i++) { // half a renewal period apart, so that no batch has both
            leases.add(slow.named("x" + i, fixture().shortLease(slow)).acquire());
            ContractTestFixture.letPass("a part of a renewal period", lease.dividedBy(6));
        }
        Duration call = lease.dividedBy(5);
        Duration roundTrip = call.dividedBy(fixture().backend().roundTripsPerCall());
        fixture().faultInjector().delay(slow, roundTrip.dividedBy(2), "S02 for renewals that overlap");
        ContractTestFixture.letPass("earlier confirmations are as old as a round trip", roundTrip);
        ContractTestFixture.throughout(
                "renewals overlap",
                lease,
                () -> assertThat(leases)
                        .as("S02: leases that remain for longer than %s less a round trip of %s", lease, roundTrip)
                        .allMatch(one -> one.remaining().compareTo(lease.minus(roundTrip)) <= 0));
        fixture().faultInjector().delay(slow, Duration.ZERO, "S02 for renewals that overlap");
        for (Lease one : leases) {
            ContractTestFixture.assertConsistent(one.release(), one);
        }
    }

    /** One round trip takes longer than the lease, so each grant has ended before the client hears of it. */
    @Test
    default void S02_aGrantThatArrivesAfterItsLeaseIsNotHeld() throws Exception {
        Duration lease = fixture().backend().lease();
        LockClient slow = fixture()
                .client(ClientOptions.defaults()
                        .requestTimeout(lease.multipliedBy(3))
                        .unavailableAfter(ContractTestFixture.LONG));
        LockClient other = fixture().client();
        slow.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        Duration oneWay = lease.multipliedBy(3).dividedBy(5);
        fixture().faultInjector().delay(slow, oneWay, "S02 for a grant that arrives late");
        CompletableFuture<Lease> requested =
                slow.named("x", fixture().shortLease(slow)).acquireAsync();
        ContractTestFixture.throughout(
                "late grants arrive",
                lease.multipliedBy(2),
                () -> assertThat(isHeld(requested))
                        .as("S02: a late grant is held")
                        .isFalse());
        fixture().faultInjector().delay(slow, Duration.ZERO, "S02 for a grant that arrives late");
        ContractTestFixture.eventually("S11: the request ends", ContractTestFixture.LONG, requested::isDone);
        assertThat(isHeld(requested) && other.named("x").tryAcquire().isPresent())
                .as("S01: two leases are held")
                .isFalse();
        requested.thenAccept(Lease::releaseAsync);
        fixture().assertFree(other, "x");
    }

    private static boolean isHeld(CompletableFuture<Lease> requested) {
        return requested.isDone()
                && !requested.isCompletedExceptionally()
                && requested.join().isHeld();
    }

    @ParameterizedTest
    @EnumSource
    default void S09_aBoundedWaitEndsAtItsBoundWhileItsReplyIsPending(ApiStyle style) throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        fixture().faultInjector().delay(slow, roundTrip().dividedBy(2), "S08, S09 on a slow link");
        Duration maxWait = roundTrip().dividedBy(4);
        List<String> names =
                new ArrayList<>(); // one each: a late request of the last try may keep its lock busy for a moment
        DurationAssertions.overshoot("beyond maxWait", ContractTestFixture.PROMPT, Duration.ofMillis(50), () -> {
            String name = "x" + names.size();
            names.add(name);
            other.named(name).run(Lease::ensureHeld); // the first use of a lock may need additional round trips
            long start = System.nanoTime();
            try {
                Optional<Lease> late = style.tryAcquire(slow.named(name), maxWait);
                // The reply may arrive in time if this thread stalls.
                assertThat(late)
                        .as("S15: no reply must not be reported as busy")
                        .isPresent();
                late.orElseThrow().release();
            } catch (BackendUnavailableException e) {
                // expected if the wait ends in time
            }
            Duration took = DurationAssertions.since(start);
            assertThat(took).isGreaterThanOrEqualTo(maxWait);
            return took.minus(maxWait);
        });
        ContractTestFixture.letPass("all requests have arrived", SLOW_CALL);
        for (String name : names) {
            assertThat(other.named(name).tryAcquire(fixture().backend().lease()))
                    .as("S08: the lock that the late replies would have granted")
                    .hasValueSatisfying(Lease::close);
            fixture().assertFree(other, name);
        }
    }

    /** The waiter did not send the request that granted it the lock, and it receives the message late. */
    @Test
    default void S02_aGrantThatWasHandedOffOverASlowLinkEndsBeforeTheNextGrant() throws Exception {
        LockClient holder = fixture().client();
        LockClient slow = fixture().client(ClientOptions.defaults().unavailableAfter(ContractTestFixture.LONG));
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Duration lease = fixture().backend().lease();
        Duration oneWay = roundTrip().multipliedBy(3).dividedBy(2);
        slow.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        Lease held = holder.named("x").acquire();
        fixture().faultInjector().delay(slow, oneWay, "S02 for a hand-off over a slow link");
        CompletableFuture<Lease> waiting =
                slow.named("x", fixture().shortLease(slow)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        // Whether or not the store shows the waiter: its request has arrived, and its reply as well.
        ContractTestFixture.letPass(
                "the reply has arrived", SLOW_CALL.multipliedBy(9).dividedBy(2));
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = ApiStyle.result(waiting);
        assertThat(next.remaining())
                .as("remaining() of a grant that the store made at least %s ago", oneWay)
                .isBetween(Duration.ofNanos(1), lease.minus(oneWay));
        CompletableFuture<Lease> last =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        fixture().faultInjector().silence(slow, "S02 for a hand-off over a slow link");
        fixture().awaitTakeover(last, next);
        assertThat(last.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** Releases leases just when their renewals are sent, or when the replies to these are under way. */
    @Test
    default void S05_aRenewalThatIsUnderWayDoesNotUndoARelease() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        other.named("x0").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().delay(slow, roundTrip(), "S05, S06, S07 while a renewal is under way");
        List<Lease> leases = new ArrayList<>();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 6; i++) {
            Lease held = slow.named("x" + i, fixture().shortLease(slow)).acquire(); // one round trip apart
            held.lost().thenAccept(losses::add);
            leases.add(held);
        }
        // Renewals are sent every third of a lease or more often; some are under way at this moment.
        ContractTestFixture.letPass("renewals are sent", lease.dividedBy(4));
        List<CompletableFuture<ReleaseOutcome>> outcomes = new ArrayList<>();
        for (Lease held : leases) {
            outcomes.add(held.releaseAsync());
            assertThat(held.isHeld()).as("held once its release has begun").isFalse();
        }
        for (CompletableFuture<ReleaseOutcome> outcome : outcomes) {
            assertThat(ApiStyle.result(outcome)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        List<Lease> next = new ArrayList<>();
        for (Lease held : leases) {
            next.add(other.named(held.lockName(), fixture().shortLease(other))
                    .tryAcquire(ContractTestFixture.PROMPT)
                    .orElseThrow(() ->
                            new AssertionError("S05: \"" + held.lockName() + "\" was released, but is not free")));
        }
        ContractTestFixture.throughout("one lease passes", lease, () -> {
            assertThat(leases).as("S06: released leases that are held").noneMatch(Lease::isHeld);
            assertThat(next).as("S05: the leases of the next owner").allMatch(Lease::isHeld);
        });
        assertThat(losses).as("S07: announced for leases that were released").isEmpty();
        for (Lease held : next) {
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** Requests and withdrawals overtake each other in the client: each is sent while the reply to another one is awaited. */
    @Test
    default void S08_cancelledRequestsOverASlowLinkLeaveNoOrphan() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        Lease held = other.named("held").acquire();
        fixture().faultInjector().delay(slow, roundTrip().dividedBy(2), "S08 on a slow link");
        List<CompletableFuture<?>> requests = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            requests.add(slow.named("x" + i).acquireAsync());
            requests.add(slow.named("held").acquireAsync());
        }
        for (int i = 0;
                i < 12;
                i++) { // a part before the request was sent, a part when its reply is under way, or later
            ContractTestFixture.letPass("a moment passes", Duration.ofMillis(25L));
            requests.get(2 * i).cancel(true);
            requests.get(2 * i + 1).cancel(true);
        }
        for (int i = 0; i < 12; i++) {
            CompletableFuture<?> request = requests.get(2 * i);
            if (!request.isCancelled()) {
                ((Lease) request.join()).release();
            }
        }
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        List<Lease> next = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int number = i;
            next.add(other.named("x" + i)
                    .tryAcquire(ContractTestFixture.PROMPT)
                    .orElseThrow(
                            () -> new AssertionError("S08: lock x" + number + " is not free after a cancellation")));
        }
        fixture().assertFree(other, "held");
        assertThat(next).as("S05: leases after late withdrawals").allMatch(Lease::isHeld);
        for (Lease lease : next) {
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** Both requests are under way at the same time; the second one must not share the grant of the first. */
    @ParameterizedTest
    @EnumSource
    default void S04_concurrentRequestsOfOneClientGetOneLease(ApiStyle style) throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        fixture().faultInjector().delay(slow, roundTrip().dividedBy(2), "S01, S04 on a slow link");
        for (int round = 0; round < 2; round++) {
            Duration maxWait = round == 0 ? Duration.ZERO : Duration.ofSeconds(1);
            List<Future<Optional<Lease>>> requests = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                requests.add(fixture().start(() -> style.tryAcquire(slow.named("x"), maxWait)));
            }
            List<Lease> granted = new ArrayList<>();
            for (Future<Optional<Lease>> request : requests) {
                ApiStyle.result(request).ifPresent(granted::add);
            }
            // Single attempts may split the votes of a quorum, so that none is granted.
            assertThat(granted).as("S01: leases of one lock").hasSizeBetween(maxWait.isZero() ? 0 : 1, 1);
            for (Lease lease : granted) {
                assertThat(other.named("x").tryAcquire()).isEmpty();
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            }
        }
        fixture().assertFree(other, "x");
    }

    /** A call may have several steps. Between those of the slow clients, the fast one is granted the lock many times. */
    @Test
    default void S03_theTokenOfASlowCallIsAboveThoseThatWereGrantedMeanwhile() throws Exception {
        List<LockClient> clients = new ArrayList<>(List.of(fixture().client()));
        ContractTestFixture.onlyIf(clients.get(0), Capability.FENCING);
        for (int i = 0; i < 3; i++) {
            LockClient slow = fixture().client();
            clients.add(slow);
            fixture().faultInjector().delay(slow, roundTrip().dividedBy(2), "S03 on a slow link");
        }
        AtomicLong last = new AtomicLong();
        Callable<Boolean> enough =
                ContractTestFixture.timePasses(fixture().backend().lease());
        List<Future<Boolean>> done = new ArrayList<>();
        for (LockClient client : clients) {
            done.add(fixture().start(() -> {
                while (!enough.call()) {
                    client.named("x").tryRun(ContractTestFixture.LONG, lease -> {
                        synchronized (last) {
                            if (lease.isHeld()) { // else another holder may have come and gone
                                assertThat(lease.fencingToken())
                                        .as("S03: after the token of the holder before")
                                        .isGreaterThan(last.getAndSet(lease.fencingToken()));
                            }
                        }
                    });
                }
                return true;
            }));
        }
        ApiStyle.awaitAll(done);
    }

    /** The grant is removed while the reply with the grant is under way. */
    @Test
    default void S07_aGrantThatWasRemovedBeforeItsReplyArrivedIsLost() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        BackendUnderTest backend = fixture().backend();
        LockOptions options = fixture().leaseToRemove(slow);
        slow.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        fixture().faultInjector().delay(slow, roundTrip(), "S07 before the reply"); // each way
        CompletableFuture<Lease> requested = slow.named("x", options).acquireAsync();
        ContractTestFixture.awaitGrant(other, "x");
        fixture().removeGrant("x", other, "S07 before the reply");
        Lease next =
                other.named("x", options).tryAcquire(ContractTestFixture.LONG).orElseThrow();
        // The client may also hear of the removal before the reply, and ask again.
        ContractTestFixture.eventually(
                "S07: the lease that was removed is lost, or not delivered",
                ContractTestFixture.LONG,
                timePassesOr(
                        backend.removalNotifiedWithin()
                                .plus(SLOW_CALL.multipliedBy(2))
                                .plus(ContractTestFixture.PROMPT),
                        () -> requested.isDone() && requested.join().lost().isDone()));
        assertThat(isHeld(requested))
                .as("S07: the lease that was removed is held")
                .isFalse();
        assertThat(next.isHeld()).as("S05: the lease of the next owner").isTrue();
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        requested.thenAccept(Lease::releaseAsync);
        ContractTestFixture.eventually("S11: the request has ended", ContractTestFixture.LONG, requested::isDone);
    }

    /** Returns a condition that is true once the other one is, or, if nothing happens, when the time has passed. */
    private static Callable<Boolean> timePassesOr(Duration time, Callable<Boolean> condition) {
        Callable<Boolean> passed = ContractTestFixture.timePasses(time);
        return () -> condition.call() || passed.call();
    }

    /** The operator read who held the lock; the lock has another owner when the operator's request is executed. */
    @Test
    default void S05_aForcedReleaseOverASlowLinkSparesTheNextOwner() throws Exception {
        LockClient operator = fixture().client();
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        LockAdmin admin = ContractTestFixture.admin(operator, "S05 for a forced release over a slow link");
        fixture().faultInjector().delay(operator, roundTrip(), "S05 for a forced release over a slow link");
        for (int i = 0; i < 4; i++) {
            Lease held = one.named("x").acquire();
            LockHolder seen = ContractTestFixture.status(admin, "x").holders().get(0);
            CompletableFuture<Boolean> forced = admin.forceRelease("x", seen);
            ContractTestFixture.letPass(
                    "a moment passes", SLOW_CALL.multipliedBy(i).dividedBy(2));
            held.release();
            Lease next = two.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            ContractTestFixture.await(forced);
            assertThat(one.named("x").tryAcquire())
                    .as("S05: the next owner's lock")
                    .isEmpty();
            assertThat(next.isHeld()).isTrue();
            assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** The renewal is sent while the link is slow, and the release when it is fast again, so that it may overtake the renewal. */
    @Test
    default void S06_aRenewalThatArrivesAfterTheReleaseRevivesNothing() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        Duration lease = fixture().backend().lease();
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            leases.add(client.named("x" + i, fixture().shortLease(client)).acquire());
        }
        Duration oneWay = lease.dividedBy(3);
        fixture().faultInjector().delay(client, oneWay, "S06 for a renewal that is overtaken");
        ContractTestFixture.letPass("renewals are sent", lease.multipliedBy(5).dividedBy(12));
        fixture().faultInjector().delay(client, Duration.ZERO, "S06 for a renewal that is overtaken");
        for (Lease held : leases) {
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        ContractTestFixture.letPass("the renewals have arrived", oneWay);
        for (Lease held : leases) {
            assertThat(other.named(held.lockName()).tryAcquire())
                    .as("S06: lock \"%s\", which was released", held.lockName())
                    .hasValueSatisfying(Lease::close);
        }
    }

    /**
     * A request is executed long after its caller gave up and its withdrawal was executed. Its lease is so long that no expiry
     * can free the lock.
     */
    @Test
    default void S08_aRequestThatArrivesLongAfterItsWithdrawalLeavesNoOrphan() throws Exception {
        LockClient slow = fixture().client(IMPATIENT);
        LockClient other = fixture().client();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        long sent = System.nanoTime();
        CompletableFuture<Optional<Lease>> attempt =
                sendLate(slow, "S08 for a late request", () -> slow.named("x").tryAcquireAsync(Duration.ZERO));
        assertThat(catchThrowable(() -> ApiStyle.result(attempt))).isInstanceOf(BackendUnavailableException.class);
        assertFreeAfterLateRequest(other, sent);
    }

    /** Sends the first request so that it is executed late, and those that follow, such as its withdrawal, at once. */
    private <T> T sendLate(LockClient slow, String rule, Supplier<T> request) throws Exception {
        fixture().faultInjector().delay(slow, LATE, rule);
        T sent = request.get();
        ContractTestFixture.letPass(
                "the request is sent", IMPATIENT.requestTimeout().dividedBy(5));
        fixture().faultInjector().delay(slow, Duration.ZERO, rule);
        return sent;
    }

    /** The late request is not the one that was granted; it is executed after the release of that grant. */
    @Test
    default void S08_aLateRequestOfAnEarlierTryLeavesNoOrphan() throws Exception {
        LockClient slow = fixture().client(IMPATIENT);
        LockClient other = fixture().client();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        long sent = System.nanoTime();
        Lease lease = ApiStyle.result(sendLate(
                slow,
                "S08 for a late request of an earlier try",
                () -> slow.named("x").acquireAsync()));
        ContractTestFixture.assertConsistent(lease.release(), lease);
        assertFreeAfterLateRequest(other, sent);
    }

    /** Renewals are executed in time, but their replies arrive after the deadline: the store has extended a lost lease. */
    @Test
    default void S08_aLostGrantThatLateRenewalsExtendedIsRemoved() throws Exception {
        LockClient slow = fixture()
                .client(ClientOptions.defaults()
                        .requestTimeout(ContractTestFixture.LONG)
                        .unavailableAfter(ContractTestFixture.LONG));
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.PER_LOCK_LEASE);
        Duration shortest = fixture().backend().lease();
        Duration duration = ContractTestFixture.firstGranted( // a shorter lease would end before the assertion does
                other, shortest.multipliedBy(2), shortest.multipliedBy(3).dividedBy(2));
        Lease lease =
                slow.named("x", LockOptions.defaults().leaseDuration(duration)).acquire();
        Duration oneWay = duration.multipliedBy(3).dividedBy(5);
        fixture().faultInjector().delay(slow, oneWay, "S08 for a lease that late renewals extended");
        ContractTestFixture.eventually(
                "S02: the lease ends", duration.plus(ContractTestFixture.LONG), () -> !lease.isHeld());
        fixture().faultInjector().delay(slow, Duration.ZERO, "S08 for a lease that late renewals extended");
        // The removal takes as long as the other requests. The last renewal extends the lease beyond that.
        assertThat(other.named("x").tryAcquire(oneWay.plus(ContractTestFixture.PROMPT)))
                .as("S08: the lock of a lost lease")
                .hasValueSatisfying(Lease::close);
    }

    /** One request of a waiter is late; the next one has a reply before it, and then the waiter gives up. */
    @Test
    default void S08_aLateRequestOfAWaiterLeavesNoOrphan() throws Exception {
        LockClient slow = fixture().client(IMPATIENT);
        LockClient other = fixture().client();
        Lease held = other.named("x").acquire();
        CompletableFuture<Lease> waiting = slow.named("x").acquireAsync();
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().delay(slow, LATE, "S08 for a late request of a waiter");
        ContractTestFixture.letPass("the waiter has asked again", LATE.dividedBy(4));
        long sent = System.nanoTime();
        fixture().faultInjector().delay(slow, Duration.ZERO, "S08 for a late request of a waiter");
        ContractTestFixture.letPass("the waiter has asked once more", LATE.dividedBy(2));
        waiting.cancel(true);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertFreeAfterLateRequest(other, sent);
    }

    private static void assertFreeAfterLateRequest(LockClient other, long sent) throws Exception {
        ContractTestFixture.eventually(
                "the late request has arrived",
                ContractTestFixture.LONG,
                () -> DurationAssertions.since(sent).compareTo(LATE.plusSeconds(1)) > 0);
        // A backend whose store cannot reject late requests finds the grant after as long as the request was late.
        ContractTestFixture.eventually(
                "S08: the lock is free",
                LATE.multipliedBy(2).plus(ContractTestFixture.PROMPT).minusMillis(700),
                () -> other.named("x").tryRun(Duration.ZERO, Lease::ensureHeld));
    }

    /** The release, or the withdrawal of a request, is under way when the client closes. */
    @Test
    default void S16_closeWaitsForItsReleasesAndWithdrawals() throws Exception {
        LockClient other = fixture().client();
        for (String name : List.of("released", "held", "requested")) {
            other.named(name).run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        }
        LockClient slow = fixture().client();
        fixture().faultInjector().delay(slow, roundTrip(), "S16 on a slow link");
        Lease released = slow.named("released").acquire();
        Lease held = slow.named("held").acquire();
        CompletableFuture<Lease> requested = slow.named("requested").acquireAsync();
        CompletableFuture<ReleaseOutcome> outcome = released.releaseAsync();
        slow.close();
        assertThat(held.isHeld()).isFalse();
        assertThat(ApiStyle.result(outcome)).isNotEqualTo(ReleaseOutcome.LOST);
        assertThat(catchThrowable(() -> ApiStyle.result(requested))).isInstanceOf(ClientClosedException.class);
        for (String name : List.of("released", "held", "requested")) {
            assertThat(other.named(name).tryAcquire())
                    .as("S16: lock \"%s\" right after close()", name)
                    .hasValueSatisfying(Lease::close);
        }
    }

    /** Nothing but this request keeps the client open: its grant arrives after the call of close(). */
    @Test
    default void S16_closeWaitsForARequestThatIsUnderWay() throws Exception {
        LockClient other = fixture().client();
        other.named("x").run(Lease::ensureHeld); // the first use of a lock may need additional round trips
        LockClient slow = fixture().client();
        fixture().faultInjector().delay(slow, roundTrip(), "S16 on a slow link");
        CompletableFuture<Lease> requested = slow.named("x").acquireAsync();
        ContractTestFixture.letPass("the request is sent", SLOW_CALL.dividedBy(4));
        slow.close();
        assertThat(catchThrowable(() -> ApiStyle.result(requested))).isInstanceOf(ClientClosedException.class);
        assertThat(other.named("x").tryAcquire())
                .as("S16: the lock right after close()")
                .hasValueSatisfying(Lease::close);
    }

    /** The hint arrives while the waiter's own request is under way, at each moment of it. */
    @Test
    default void S11_aReleaseWhileTheRequestOfAWaiterIsUnderWayWakesIt() throws Exception {
        LockClient slow = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.PUSH);
        slow.named("x").acquire().close(); // opens its connections
        fixture().faultInjector().delay(slow, roundTrip(), "S11 on a slow link");
        for (int moment = 0; moment < 8; moment++) {
            Lease held = other.named("x").tryAcquire(ContractTestFixture.LONG).orElseThrow();
            CompletableFuture<Lease> waiting = slow.named("x").acquireAsync();
            ContractTestFixture.letPass(
                    "a moment passes", SLOW_CALL.multipliedBy(moment).dividedBy(3));
            long start = System.nanoTime();
            held.release();
            Lease next = ApiStyle.result(waiting);
            assertThat(DurationAssertions.since(start))
                    .as(
                            "S11: from the release to the grant over a link with a round trip of %s",
                            roundTrip().multipliedBy(2))
                    .isLessThan(SLOW_CALL.multipliedBy(4).plus(ContractTestFixture.PROMPT));
            next.releaseAsync();
        }
    }
}
