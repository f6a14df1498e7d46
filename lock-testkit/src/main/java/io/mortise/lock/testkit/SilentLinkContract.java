// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that leases expire and waits stay bounded if a connection stays open but delivers nothing.
 *
 * <p>Needs {@link Faults#link}.
 */
interface SilentLinkContract extends Contract {
    ClientOptions SHORT_TIMEOUTS = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));

    /** One scenario for S02, S03, S05, S06, S07 and S11, since each expiring lease takes its whole duration. */
    @ParameterizedTest
    @EnumSource
    default void S02_aSilentHoldersLeaseEndsBeforeTheNextGrant(ApiStyle style) throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        LockClient third = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        boolean perLock = silent.capabilities().contains(Capability.PER_LOCK_LEASE);
        Duration own = fixture().backend().lease();
        Duration requested = perLock // a store that counts in seconds would end the lease too early
                ? ContractTestFixture.firstGranted(silent, own.plusMillis(870), own)
                : own;
        LockOptions options = perLock ? LockOptions.defaults().leaseDuration(requested) : LockOptions.defaults();
        Duration lease = perLock ? fixture().leaseInForce(silent, requested) : own;
        style.acquire(silent.named("acquired before, and longer"));
        Lease old = style.acquire(silent.named("x", options));
        CompletableFuture<Void> warned = new CompletableFuture<>();
        old.onExpiring(own.multipliedBy(3).dividedBy(4), () -> warned.complete(null));
        CompletableFuture<Lease> waiting =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        fixture().faultInjector().silence(silent, "S02, S03, S05, S06, S07, S11 over expiry");
        AtomicReference<Duration> left = new AtomicReference<>(old.remaining());
        ContractTestFixture.eventually(
                "S11: the next waiter is granted the lock",
                fixture().backend().takeoverWithin().plus(lease).minus(own),
                () -> {
                    boolean granted = waiting.isDone();
                    assertThat(granted && old.isHeld())
                            .as("S02: two leases are held")
                            .isFalse();
                    Duration remaining = old.remaining();
                    left.updateAndGet(
                            least -> remaining.isZero() || least.compareTo(remaining) < 0 ? least : remaining);
                    return granted;
                });
        assertThat(left.get())
                .as("S02: smallest remaining() before the end")
                .isLessThan(lease.multipliedBy(9).dividedBy(10));
        Lease next = ApiStyle.result(waiting);
        assertThat(warned).as("onExpiring").isCompleted();
        ContractTestFixture.eventually("S07: the loss is announced", ContractTestFixture.PROMPT, old.lost()::isDone);
        assertThat(old.lost().join().kind()).as("S07").isIn(LossReason.Kind.EXPIRED, LossReason.Kind.SESSION_ENDED);
        ContractTestFixture.assertTokensIncrease(other, old, next);
        fixture().faultInjector().heal(silent);
        assertThat(style.release(old)).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(old.isHeld()).as("S06").isFalse();
        assertThat(third.named("x").tryAcquire())
                .as("S05: the successor's lock")
                .isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(style.release(next)).isEqualTo(ReleaseOutcome.RELEASED);
        // The client continues after the link is healed, with a new session if it needs one.
        Lease again =
                style.tryAcquire(silent.named("x"), ContractTestFixture.LONG).orElseThrow();
        assertThat(style.release(again)).isNotEqualTo(ReleaseOutcome.LOST);
    }

    /** A grant with its own lease ends only at its deadline; a session may end earlier, with its connection. */
    @Test
    default void S07_aRenewalWithoutAReplyIsNoLoss() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        ContractTestFixture.onlyIf(client, Capability.PER_LOCK_LEASE);
        // So long that the lease is still valid after a failed renewal.
        Duration shortest = fixture().backend().lease();
        Duration duration =
                ContractTestFixture.firstGranted(client, shortest.multipliedBy(3), shortest.multipliedBy(2));
        Lease lease = client.named("x", LockOptions.defaults().leaseDuration(duration))
                .acquire();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        fixture().faultInjector().cut(client, "S07 for a renewal that fails");
        long cut = System.nanoTime();
        Duration renewed =
                duration.multipliedBy(11).dividedBy(20); // renewals are sent at least every third of the duration
        ContractTestFixture.eventually("a renewal has failed", ContractTestFixture.LONG, () -> {
            assertThat(lease.isHeld())
                    .as(
                            "held %s after the cut, with a lease of %s; renewals answered: %s; reported losses: %s",
                            DurationAssertions.since(cut),
                            duration,
                            fixture().recorder().renewals(client),
                            losses)
                    .isTrue();
            return DurationAssertions.since(cut).compareTo(renewed) > 0;
        });
        assertThat(losses).as("reported losses").isEmpty();
        fixture().faultInjector().heal(client);
        assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST);
    }

    @ParameterizedTest
    @EnumSource
    default void S09_waitsOnASilentStoreAreBounded(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().faultInjector().silence(client, "S09 on a silent store");
        for (Duration maxWait : new Duration[] {Duration.ZERO, Duration.ofMillis(300), Duration.ofMillis(1500)}) {
            Duration bound = maxWait.isZero() ? SHORT_TIMEOUTS.requestTimeout() : maxWait;
            long start = System.nanoTime();
            assertThatThrownBy(() -> style.tryAcquire(lock, maxWait), "S15: no reply must not be reported as busy")
                    .isInstanceOf(BackendUnavailableException.class);
            assertThat(DurationAssertions.since(start))
                    .as("a wait of " + maxWait)
                    .isLessThan(bound.plus(ContractTestFixture.PROMPT));
        }
    }

    @Test
    default void S10_anInterruptReturnsAtOnceThoughTheStoreIsSilent() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        DistributedLock lock = client.named("x");
        fixture().faultInjector().silence(client, "S10 on a silent store");
        fixture().assertInterruptReturnsAtOnce(lock);
    }

    /**
     * Requests that reach the store late must leave no grant. The leases are so long that no expiry can free the locks. One
     * request is withdrawn before its timeout, and one after it; the store executes both, and their withdrawals, much later.
     */
    @Test
    default void S08_requestsThatArriveLateLeaveNoOrphan() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS.requestTimeout(Duration.ofMillis(500)));
        LockClient other = fixture().client();
        other.named("first").run(Lease::ensureHeld);
        other.named("second").run(Lease::ensureHeld);
        fixture().faultInjector().silence(client, "S08 unknown outcomes");
        long start = System.nanoTime();
        CompletableFuture<Lease> cancelled = client.named("first").acquireAsync();
        assertThatThrownBy(() -> client.named("second").tryAcquire(Duration.ofMillis(100)))
                .isInstanceOf(BackendUnavailableException.class);
        cancelled.cancel(true);
        ContractTestFixture.letPass("the requests have timed out", Duration.ofMillis(1_300));
        fixture().faultInjector().heal(client);
        Duration silence = DurationAssertions.since(start);
        // A session may have ended during the silence, and takes its time to go.
        Duration bound = client.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? silence.multipliedBy(2).plus(ContractTestFixture.PROMPT)
                : fixture().backend().takeoverWithin().plus(ContractTestFixture.PROMPT);
        // The check starts only after a delay, since late requests may arrive after it otherwise.
        long healed = System.nanoTime();
        Duration late = Duration.ofSeconds(1);
        for (String name : List.of("first", "second")) {
            ContractTestFixture.eventually(
                    "S08: lock \"" + name + "\" is free",
                    bound,
                    () -> DurationAssertions.since(healed).compareTo(late) > 0
                            && other.named(name).tryRun(Duration.ZERO, Lease::ensureHeld));
            fixture().assertFree(other, name);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void S15_anUnboundedWaitOnASilentStoreFails(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS.unavailableAfter(Duration.ofSeconds(1)));
        fixture().faultInjector().silence(client, "S15");
        List<CompletableFuture<Lease>> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) { // in the same local queue, if there is one
            others.add(client.named("unreachable-store").acquireAsync());
        }
        long start = System.nanoTime();
        assertThatThrownBy(() -> style.acquire(client.named("unreachable-store")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("unreachable-store");
        assertThat(DurationAssertions.since(start)).as("until it failed").isLessThan(Duration.ofSeconds(5));
        for (CompletableFuture<Lease> one : others) {
            assertThat(catchThrowable(() -> ApiStyle.result(one))).isInstanceOf(BackendUnavailableException.class);
        }
        assertThat(DurationAssertions.since(start)).as("until all failed").isLessThan(Duration.ofSeconds(5));
    }

    /** The client first hears that the lock is busy; the silence begins later, and the lock may have become free since. */
    @Test
    default void S15_aSilenceThatBeginsAfterBusyIsAnOutage() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient bounded = fixture().client(SHORT_TIMEOUTS.unavailableAfter(Duration.ofSeconds(2)));
        LockClient holder = fixture().client();
        Lease held = holder.named("x", fixture().shortLease(holder)).acquire();
        Duration lease = fixture().backend().lease();
        assertThat(client.named("x").tryAcquire()).isEmpty();
        assertThat(bounded.named("x").tryAcquire()).isEmpty();
        long start = System.nanoTime();
        Duration limit = lease.multipliedBy(2);
        CompletableFuture<Optional<Lease>> limited =
                client.named("x", fixture().shortLease(client)).tryAcquireAsync(limit);
        CompletableFuture<Lease> byDefault =
                client.named("x", fixture().shortLease(client)).acquireAsync();
        CompletableFuture<Lease> soon =
                bounded.named("x", fixture().shortLease(bounded)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 2);
        fixture().faultInjector().silence(client, "S15 after a busy reply");
        fixture().faultInjector().silence(bounded, "S15 after a busy reply");
        long silent = System.nanoTime();
        // A waiter that the store wakes sends its next request after the slow timer of S11 at the latest.
        Duration slowTimer = Duration.ofSeconds(6);
        assertThat(catchThrowable(() -> soon.get(20, TimeUnit.SECONDS)))
                .as("an unbounded wait with unavailableAfter")
                .hasCauseInstanceOf(BackendUnavailableException.class);
        assertThat(DurationAssertions.since(silent))
                .isLessThan(slowTimer.plusSeconds(2).plus(ContractTestFixture.PROMPT));
        assertThat(catchThrowable(() -> byDefault.get(40, TimeUnit.SECONDS)))
                .as("an unbounded wait")
                .hasCauseInstanceOf(BackendUnavailableException.class);
        assertThat(DurationAssertions.since(silent))
                .as("until an unbounded wait failed")
                .isBetween(
                        lease.minusMillis(100),
                        slowTimer
                                .plus(lease)
                                .plus(SHORT_TIMEOUTS.requestTimeout())
                                .plus(ContractTestFixture.PROMPT));
        assertThat(catchThrowable(() -> limited.get(40, TimeUnit.SECONDS)))
                .as("a wait of %s, of which the store was silent for more than the last %s", limit, lease)
                .hasCauseInstanceOf(BackendUnavailableException.class);
        assertThat(DurationAssertions.since(start)).isGreaterThanOrEqualTo(limit);
        fixture().faultInjector().heal(client);
        fixture().faultInjector().heal(bounded);
        assertThat(held.isHeld())
                .as("the lease of the client that nothing happened to")
                .isTrue();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(holder, "x");
    }

    @Test
    default void S16_closeOnASilentStoreIsBounded() throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        Lease held = client.named("x", fixture().shortLease(client)).acquire();
        client.named("contended", fixture().shortLease(client)).acquire();
        CompletableFuture<Lease> successor = other.named("contended").acquireAsync();
        ContractTestFixture.awaitWaiters(other, "contended", 1);
        fixture().faultInjector().silence(client, "S16 on a silent store");
        CompletableFuture<Lease> waiting = client.named("y").acquireAsync();
        long start = System.nanoTime();
        client.close();
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(SHORT_TIMEOUTS.requestTimeout().multipliedBy(2).plus(ContractTestFixture.PROMPT));
        assertThat(held.isHeld()).isFalse();
        ContractTestFixture.eventually(
                "the waiter failed", ContractTestFixture.PROMPT, waiting::isCompletedExceptionally);
        fixture().faultInjector().heal(client); // the store learns that the connection has ended
        if (other.capabilities().contains(Capability.CRASH_RELEASE)) {
            Duration bound = fixture().backend().takeoverWithin();
            assertThat(other.named("x").tryAcquire(bound))
                    .as("the lock of the client that could not release it")
                    .hasValueSatisfying(Lease::close);
            ContractTestFixture.eventually("S11: the waiter is granted the other lock", bound, successor::isDone);
            successor.join().close();
        }
    }

    /** The request waits on a silent link while another client is granted the lock and releases it. */
    @Test
    default void S03_aRequestThatWasUnderWayForLongGetsAHigherToken() throws Exception {
        LockClient silent = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.FENCING);
        other.named("x").run(Lease::ensureHeld);
        fixture().faultInjector().silence(silent, "S03 for a delayed request");
        CompletableFuture<Lease> delayed = silent.named("x").acquireAsync();
        long last = 0;
        for (int i = 0; i < 3; i++) {
            try (Lease lease = other.named("x").acquire()) {
                last = lease.fencingToken();
            }
        }
        fixture().faultInjector().heal(silent);
        Lease lease = ApiStyle.result(delayed);
        assertThat(lease.fencingToken()).as("S03").isGreaterThan(last);
        lease.release();
    }

    /** The lock is handed off to a waiter that is silent, and that learns of it when half of its lease has passed. */
    @Test
    default void S02_aGrantThatIsCollectedLateEndsBeforeTheNextGrant() throws Exception {
        LockClient holder = fixture().client();
        LockClient silent = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        Duration lease = fixture().backend().lease();
        Lease held = holder.named("x").acquire();
        CompletableFuture<Lease> collected =
                silent.named("x", fixture().shortLease(silent)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 1);
        CompletableFuture<Lease> last =
                other.named("x", fixture().shortLease(other)).acquireAsync();
        ContractTestFixture.awaitWaiters(holder, "x", 2);
        fixture().faultInjector().silence(silent, "S02 for a grant that is collected late");
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        ContractTestFixture.letPass("half a lease passes", lease.dividedBy(2));
        fixture().faultInjector().heal(silent);
        ContractTestFixture.eventually(
                "S11: one of the waiters holds the lock",
                fixture().backend().takeoverWithin(),
                () -> collected.isDone() || last.isDone());
        fixture().faultInjector().silence(silent, "S02 for a grant that is collected late");
        ContractTestFixture.eventually(
                "S11: the last waiter is granted the lock",
                fixture().backend().takeoverWithin().multipliedBy(2),
                () -> {
                    boolean granted = last.isDone();
                    assertThat(granted
                                    && collected.isDone()
                                    && collected.join().isHeld()
                                    && last.join().isHeld())
                            .as("S02: two leases are held")
                            .isFalse();
                    return granted;
                });
        assertThat(last.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().faultInjector().heal(silent);
        if (!collected.isDone()) {
            collected.cancel(true);
        }
    }

    /** The deadline of the lease passes while the release has no reply; a release has begun, so it is no loss. */
    @ParameterizedTest
    @EnumSource
    default void S07_noLossIsAnnouncedOnceAReleaseHasBegun(ApiStyle style) throws Exception {
        LockClient client = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        Lease lease = style.acquire(client.named("x", fixture().shortLease(client)));
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        lease.onExpiring(
                fixture().backend().lease().dividedBy(3),
                () -> losses.add(new LossReason(LossReason.Kind.EXPIRED, "the callback of onExpiring ran")));
        fixture().faultInjector().silence(client, "S05, S07 for a release without a reply");
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync();
        List<Future<ReleaseOutcome>> repeated =
                List.of(lease.releaseAsync(), fixture().start(lease::release));
        assertThat(lease.isHeld()).isFalse();
        ContractTestFixture.letPass(
                "the deadline of the lease passes", fixture().backend().lease().plusMillis(500));
        fixture().faultInjector().heal(client);
        assertThat(ApiStyle.result(outcome)).as("S05").isIn(ReleaseOutcome.UNKNOWN, ReleaseOutcome.RELEASED);
        assertThat(lease.release()).as("S05: once more").isEqualTo(outcome.join());
        for (Future<ReleaseOutcome> one : repeated) {
            assertThat(ApiStyle.result(one))
                    .as("S05: while the first is under way")
                    .isEqualTo(outcome.join());
        }
        fixture().assertFreeAfterExpiry(other, "x");
        assertThat(losses).isEmpty();
    }

    /** The leases end between two requests that a waiter would send by its slow timer alone. */
    @Test
    default void S11_aWaiterNoticesTheEndOfALeaseThatIsLongerThanItsTimer() throws Exception {
        LockClient silent = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        ContractTestFixture.onlyIf(other, Capability.PER_LOCK_LEASE);
        Duration extra =
                fixture().backend().takeoverWithin().minus(fixture().backend().lease());
        // After the first request of a timer of 5 to 6 s, or after the second one.
        Duration shortest =
                ContractTestFixture.firstGranted(other, Duration.ofMillis(6_500), Duration.ofMillis(12_500));
        List<Lease> leases = new ArrayList<>();
        List<CompletableFuture<Long>> granted = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Duration duration = ContractTestFixture.firstGranted(other, shortest.plusMillis(100L * i), shortest);
            leases.add(silent.named("x" + i, LockOptions.defaults().leaseDuration(duration))
                    .acquire());
            granted.add(other.named("x" + i) // with a long lease, which does not shorten the timer
                    .acquireAsync()
                    .thenApply(next -> System.nanoTime()));
        }
        fixture().faultInjector().silence(silent, "S11 for leases that are longer than the timer of a waiter");
        long start = System.nanoTime();
        List<Duration> bounds =
                leases.stream().map(lease -> lease.remaining().plus(extra)).toList();
        for (int i = 0; i < leases.size(); i++) {
            assertThat(Duration.ofNanos(ApiStyle.result(granted.get(i)) - start))
                    .as("S11: from the silence of the holder to the grant of \"x%s\"", i)
                    .isLessThan(bounds.get(i));
        }
    }

    /** So many that a store may drop them in another way than one. Their releases arrive when the locks have other owners. */
    @Test
    default void S05_lateReleasesOfManyExpiredLeasesSpareTheNextOwners() throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        List<Lease> expired = fixture().acquireAll(silent, "x", 80);
        fixture().faultInjector().silence(silent, "S05 for many expired leases");
        ContractTestFixture.eventually(
                "S02: the leases end by themselves",
                fixture().backend().takeoverWithin(),
                () -> expired.stream().noneMatch(Lease::isHeld));
        ContractTestFixture.letPass("they end in the store too, a little later", Duration.ofMillis(300));
        List<Lease> next = fixture().acquireAll(other, "y", 120); // a store may drop ended leases when it gets new ones
        List<CompletableFuture<Optional<Lease>>> takenOver =
                new ArrayList<>(); // at once: some backends watch each for a lease
        for (Lease lease : expired) {
            takenOver.add(other.named(lease.lockName(), fixture().shortLease(other))
                    .tryAcquireAsync(fixture().backend().takeoverWithin()));
        }
        for (CompletableFuture<Optional<Lease>> one : takenOver) {
            next.add(ApiStyle.result(one).orElseThrow());
        }
        fixture().faultInjector().heal(silent);
        for (Lease lease : expired) {
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        }
        ContractTestFixture.throughout(
                "the late releases arrive",
                fixture().backend().lease(),
                () -> assertThat(next).as("S05: the leases of the next owner").allMatch(Lease::isHeld));
        for (Lease lease : next) {
            assertThat(silent.named(lease.lockName()).tryAcquire())
                    .as("S05: lock \"%s\", which has another owner", lease.lockName())
                    .isEmpty();
            lease.releaseAsync();
        }
    }

    /** The store may still have the ended leases, but a page neither ends with them nor hides others. Pages may be empty. */
    @Test
    default void S18_pagesWithEndedLeasesShowEachLockThatIsHeld() throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.LIST);
        LockAdmin admin = ContractTestFixture.admin(other, "S18 for ended leases");
        for (int i = 1; i < 8; i += 3) {
            silent.named("page/" + i, fixture().shortLease(silent)).acquire();
        }
        List<Lease> held = new ArrayList<>();
        for (int i : List.of(0, 2, 3, 5, 6, 8, 9)) {
            held.add(other.named("page/" + i).acquire());
        }
        fixture().faultInjector().silence(silent, "S18 for ended leases");
        ContractTestFixture.letPass("the leases end", fixture().backend().takeoverWithin());
        List<String> shown = new ArrayList<>();
        ContractTestFixture.eachPage(
                admin, "page/", 2, 100, page -> page.locks().forEach(lock -> shown.add(lock.name())));
        assertThat(shown)
                .as("S18: all pages")
                .containsAll(held.stream().map(Lease::lockName).toList())
                .doesNotHaveDuplicates();
        held.forEach(Lease::releaseAsync);
    }

    /** The waiter's own lease says nothing about when the holder's ends. */
    @Test
    default void S11_waitersWithLongLeasesTakeAShortOneOverInTime() throws Exception {
        LockClient silent = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        ContractTestFixture.onlyIf(other, Capability.PER_LOCK_LEASE);
        Duration lease = fixture().backend().lease();
        Map<Lease, CompletableFuture<Long>> leases = new LinkedHashMap<>();
        for (Duration ofWaiter :
                List.of(Duration.ofHours(1), lease.multipliedBy(3), lease.multipliedBy(2), Duration.ofMillis(1_500))) {
            if (!ContractTestFixture.grants(other, ofWaiter)) {
                continue;
            }
            Lease held = silent.named("x" + leases.size(), fixture().shortLease(silent))
                    .acquire();
            CompletableFuture<Lease> waiting = other.named(
                            held.lockName(), LockOptions.defaults().leaseDuration(ofWaiter))
                    .acquireAsync();
            leases.put(held, waiting.thenApply(next -> {
                long granted = System.nanoTime();
                boolean both = held.isHeld() && next.isHeld();
                next.releaseAsync();
                return both ? Long.MIN_VALUE : granted;
            }));
            ContractTestFixture.awaitWaiters(other, held.lockName(), 1);
        }
        ContractTestFixture.letPass(
                "the leases have been renewed", lease.multipliedBy(2).dividedBy(5));
        fixture().faultInjector().silence(silent, "S11 for waiters with other leases");
        long silenced = System.nanoTime();
        Duration extra = fixture().backend().takeoverWithin().minus(lease);
        Map<Lease, Duration> bounds = new LinkedHashMap<>();
        leases.keySet().forEach(held -> bounds.put(held, held.remaining().plus(extra)));
        for (Map.Entry<Lease, CompletableFuture<Long>> one : leases.entrySet()) {
            long granted = ApiStyle.result(one.getValue());
            assertThat(granted).as("S02: two leases are held").isNotEqualTo(Long.MIN_VALUE);
            assertThat(Duration.ofNanos(granted - silenced))
                    .as(
                            "S11: from the silence of the holder to the next grant of \"%s\"",
                            one.getKey().lockName())
                    .isLessThan(bounds.get(one.getKey()));
        }
    }

    /** Newcomers ask all the time when the leases of dead holders and the delays of kept locks end. */
    @Test
    default void S12_aLockWhoseLeaseEndsGoesToItsFirstWaiter() throws Exception {
        LockClient keeper = fixture().client();
        LockClient silent = fixture().client();
        LockClient first = fixture().client();
        LockClient second = fixture().client();
        LockClient newcomer = fixture().client();
        ContractTestFixture.onlyIf(newcomer, Capability.FAIR);
        ContractTestFixture.onlyIf(newcomer, Capability.CRASH_RELEASE);
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> dying = new ArrayList<>();
        List<CompletableFuture<Lease>> next = new ArrayList<>();
        List<CompletableFuture<Lease>> last = new ArrayList<>();
        boolean keeps = newcomer.capabilities().contains(Capability.DELAYED_RELEASE);
        for (int i = 0; i < (keeps ? 8 : 4); i++) {
            String name = "x" + i;
            held.add(keeper.named(name).acquire());
            if (i < 4) {
                dying.add(silent.named(name, fixture().shortestLease(silent)).acquireAsync());
                ContractTestFixture.awaitWaiters(newcomer, name, 1);
            }
            next.add(first.named(name).acquireAsync());
            ContractTestFixture.awaitWaiters(newcomer, name, i < 4 ? 2 : 1);
            last.add(second.named(name, fixture().shortestLease(second)).acquireAsync()); // asks more often
            ContractTestFixture.awaitWaiters(newcomer, name, i < 4 ? 3 : 2);
        }
        for (Lease lease : held.subList(0, 4)) {
            lease.release();
        }
        ApiStyle.awaitAll(dying);
        fixture().faultInjector().silence(silent, "S12 for the locks of a dead holder");
        for (Lease lease : held.subList(4, held.size())) {
            lease.releaseAfter(fixture().acceptedDelay(keeper, Duration.ofSeconds(1)));
        }
        Duration bound = fixture().backend().takeoverWithin().plus(DelayedReleaseContract.FALLBACK);
        long start = System.nanoTime();
        while (!next.stream().allMatch(Future::isDone)) {
            for (Lease lease : held) {
                assertThat(newcomer.named(lease.lockName()).tryAcquire())
                        .as("S12: \"%s\", for which others wait", lease.lockName())
                        .isEmpty();
            }
            assertThat(last).as("S12: those behind the first waiters").noneMatch(Future::isDone);
            assertThat(DurationAssertions.since(start))
                    .as("S11: until each first waiter is granted its lock")
                    .isLessThan(bound);
        }
        for (CompletableFuture<Lease> one : next) {
            assertThat(one.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        for (CompletableFuture<Lease> one : last) {
            assertThat(ApiStyle.result(one).release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** An operator must not read "free" when the store does not reply. */
    @Test
    default void S15_administrationOfASilentStoreFails() throws Exception {
        LockClient holder = fixture().client();
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockAdmin admin = ContractTestFixture.admin(silent, "S15 for operators");
        Lease held = holder.named("x").acquire();
        LockHolder seen = ContractTestFixture.status(admin, "x").holders().get(0);
        boolean lists = silent.capabilities().contains(Capability.LIST);
        fixture().faultInjector().silence(silent, "S15 for operators");
        long start = System.nanoTime();
        List<CompletableFuture<?>> replies =
                new ArrayList<>(List.of(admin.status("x"), silent.named("x").status(), admin.forceRelease("x", seen)));
        if (lists) {
            replies.add(admin.list("", 10, ""));
        }
        for (CompletableFuture<?> reply : replies) {
            assertThat(catchThrowable(() -> ApiStyle.result(reply))).isInstanceOf(BackendUnavailableException.class);
        }
        assertThat(DurationAssertions.since(start))
                .as("until the requests of an operator failed")
                .isLessThan(SHORT_TIMEOUTS.requestTimeout().multipliedBy(2).plus(ContractTestFixture.PROMPT));
        assertThat(held.isHeld()).isTrue();
    }
}
