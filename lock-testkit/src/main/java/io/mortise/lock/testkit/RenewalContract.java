// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that each renewal extends a lease by exactly its duration, however many leases the client holds, and that renewals
 * continue after a failure.
 *
 * <p>Rules S01, S02, S05, S06, S07, S11. Each lease is contended: a client of its own waits for the lock the whole time, and
 * would be granted it as soon as the store ended the lease.
 */
interface RenewalContract extends Contract {
    /** Timeouts that let a client notice a lost reply well within a lease, and that end no wait. */
    ClientOptions QUICK =
            ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).unavailableAfter(Duration.ofDays(1));

    /** Number of leases without a waiter that are renewed together with the contended ones. */
    int UNCONTENDED = 300;

    /** Number of locks that are new to the store when those leases have been renewed. */
    int NEW_LOCKS = 400;

    /** Fractions of a second, short and very long leases on one client; then the holder falls silent. */
    @Test
    @Timeout(120)
    default void S02_leasesOfManyLengthsAreRenewedInFullAndEndInTime() throws Exception {
        LockClient holder = fixture().client(QUICK);
        LockClient rival = fixture().client(QUICK);
        Duration lease = fixture().backend().lease();
        List<ContendedLease> leases = new ArrayList<>();
        for (LockOptions options : manyLengths(holder)) {
            leases.add(ContendedLease.of(fixture(), holder, rival, "contended/" + leases.size(), options));
        }
        // At once, so that they are due for renewal at once.
        List<Lease> uncontended = fixture().acquireAll(holder, "uncontended/", UNCONTENDED);
        AtomicInteger losses = new AtomicInteger();
        uncontended.forEach(one -> one.lost().thenRun(losses::incrementAndGet));
        holder.named("acquired last, and longer").acquire();
        holdFor(lease.multipliedBy(3), leases, uncontended);
        List<Lease> others = fixture().acquireAll(rival, "new/", NEW_LOCKS, LockOptions.defaults());
        // Before the tries, which a busy store may not answer in time.
        ApiStyle.awaitAll(others.stream().map(Lease::releaseAsync).toList());
        LockClient patient = fixture().client();
        for (Lease one : uncontended.subList(UNCONTENDED - 100, UNCONTENDED)) {
            assertThat(patient.named(one.lockName()).tryAcquire())
                    .as("S01: %s for another client", one.lockName())
                    .isEmpty();
        }
        boolean takenOver = rival.capabilities().contains(Capability.CRASH_RELEASE);
        boolean silenced = takenOver && fixture().faultInjector().tryInject(holder, LinkFault.SILENCE);
        if (silenced) {
            assertShortLeasesEndInTime(holder, lease, leases);
            ContractTestFixture.eventually(
                    "S07: the loss of each of " + UNCONTENDED + " leases is announced",
                    lease.plus(ContractTestFixture.PROMPT),
                    () -> losses.get() == UNCONTENDED);
            fixture().faultInjector().heal(holder);
        }
        for (ContendedLease one : leases) {
            one.releaseAndAwaitNextGrant();
        }
        if (takenOver && !silenced) {
            throw ContractTestFixture.notVerified(
                    "S01, S02, S11 when a renewed lease ends", "Faults.link is not implemented");
        }
    }

    private List<LockOptions> manyLengths(LockClient client) {
        Duration lease = fixture().backend().lease();
        if (!client.capabilities().contains(Capability.PER_LOCK_LEASE)) {
            return List.of(LockOptions.defaults(), LockOptions.defaults(), LockOptions.defaults());
        }
        return List.of(
                        Duration.ofMillis(31_700), // the first deadline is the last one
                        lease.plusMillis(333),
                        lease.multipliedBy(2), // each second renewal of the next one is due at the same time
                        lease,
                        lease.multipliedBy(2),
                        Duration.ofHours(1),
                        lease.multipliedBy(3).dividedBy(2).plusNanos(1_000_007),
                        lease.plusNanos(999_999))
                .stream()
                .filter(duration -> ContractTestFixture.grants(client, duration))
                .map(LockOptions.defaults()::leaseDuration)
                .toList();
    }

    /** Lets the time pass and asserts that every lease is held, and none of them by two owners. */
    private static void holdFor(Duration time, List<ContendedLease> contended, List<Lease> uncontended)
            throws Exception {
        ContractTestFixture.throughout("leases are held for " + time, time, () -> {
            contended.forEach(ContendedLease::assertHeld);
            uncontended.forEach(one -> assertThat(one.isHeld())
                    .as("S07: %s is held", one.lockName())
                    .isTrue());
        });
    }

    /** The deadline is known when the holder falls silent, so the bound adds only what the store needs. */
    private void assertShortLeasesEndInTime(LockClient holder, Duration lease, List<ContendedLease> leases)
            throws Exception {
        boolean perLock = holder.capabilities().contains(Capability.PER_LOCK_LEASE);
        Duration extra = fixture().backend().takeoverWithin().minus(lease);
        Map<ContendedLease, Duration> bounds = new LinkedHashMap<>();
        for (ContendedLease one : leases) {
            Duration remaining = one.old().remaining();
            if (remaining.compareTo(lease.multipliedBy(3)) < 0) {
                bounds.put(one, (perLock ? remaining : lease).plus(extra));
            }
        }
        long silenced = System.nanoTime();
        for (Map.Entry<ContendedLease, Duration> one : bounds.entrySet()) {
            ContractTestFixture.eventually(
                    "S11: the waiter for \"%s\" is granted it within %s of the holder's silence"
                            .formatted(one.getKey().name(), one.getValue()),
                    ContractTestFixture.LONG,
                    () -> one.getKey().isGrantedToWaiter());
            assertThat(one.getKey().grantedAfter(silenced))
                    .as(
                            "S11: from the silence of the holder to the grant of \"%s\"",
                            one.getKey().name())
                    .isLessThan(one.getValue());
        }
        for (ContendedLease one : leases) {
            if (bounds.containsKey(one)) {
                ContractTestFixture.eventually(
                        "S07: both listeners are told that \"" + one.name() + "\" is lost",
                        ContractTestFixture.PROMPT,
                        () -> one.losses().size() == 2);
                one.assertTakenOver();
            } else {
                one.assertHeld();
            }
        }
    }

    /** Returns a duration that leaves more time for renewals after a fault, if the backend grants it. */
    private Duration longerLease(LockClient client) {
        Duration lease = fixture().backend().lease();
        return client.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? ContractTestFixture.firstGranted(client, lease.multipliedBy(3).dividedBy(2), lease)
                : lease;
    }

    /** Each client meets another fault, which ends long before its leases do; then they are held for several leases more. */
    @Test
    @Timeout(120)
    default void S07_renewalsContinueAfterAFaultHasHealed() throws Exception {
        Map<String, LinkFault> faults = new LinkedHashMap<>();
        faults.put("silence", LinkFault.SILENCE);
        faults.put("cut", LinkFault.CUT);
        faults.put("lost reply", LinkFault.LOST_REPLY);
        faults.put("two lost replies", LinkFault.LOST_REPLY);
        faults.put("lost reply with the default timeouts", LinkFault.LOST_REPLY);
        LockClient rival = fixture().client(QUICK);
        boolean perLock = rival.capabilities().contains(Capability.PER_LOCK_LEASE);
        Duration lease = longerLease(rival);
        LockOptions options = perLock ? LockOptions.defaults().leaseDuration(lease) : LockOptions.defaults();
        Map<String, LockClient> holders = new LinkedHashMap<>();
        List<ContendedLease> leases = new ArrayList<>();
        for (String fault : faults.keySet()) {
            LockClient holder =
                    fault.contains("default") ? fixture().client() : fixture().client(QUICK);
            holders.put(fault, holder);
            for (int i = 0; i < 2; i++) {
                leases.add(ContendedLease.of(fixture(), holder, rival, fault + "/" + i, options));
            }
        }
        for (Map.Entry<String, LockClient> holder : holders.entrySet()) {
            if (!fixture()
                    .faultInjector()
                    .tryInject(holder.getValue(), Objects.requireNonNull(faults.get(holder.getKey())))) {
                throw ContractTestFixture.notVerified(
                        "S02, S07 after a " + holder.getKey(), "Faults.link does not support it");
            }
        }
        // Long enough for a renewal that fails, and short enough for the next one to be in time.
        ContractTestFixture.letPass("a renewal failed", lease.multipliedBy(2).dividedBy(5));
        holders.forEach((fault, holder) -> {
            if (!fault.contains("repl")) {
                fixture().faultInjector().heal(holder);
            } else if (fault.startsWith("two")) {
                fixture().faultInjector().tryInject(holder, LinkFault.LOST_REPLY);
            }
        });
        ContractTestFixture.throughout("two more leases pass", lease.multipliedBy(2), () -> {
            for (ContendedLease one : leases) {
                if (perLock) {
                    one.assertHeld();
                } else {
                    one.assertHeldOrLost(); // a session may end with its connection
                }
            }
        });
        for (ContendedLease one : leases) {
            if (one.old().isHeld()) {
                one.releaseAndAwaitNextGrant();
            } else {
                one.assertTakenOver();
            }
        }
    }

    /** Nobody waits when the leases expire: the store, not a waiter's request, must have ended them. */
    @Test
    @Timeout(120)
    default void S06_anExpiryThatNobodyWaitedForIsFinal() throws Exception {
        LockClient silent = fixture().client(QUICK);
        LockClient other = fixture().client(QUICK);
        LockClient third = fixture().client(QUICK);
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        BackendUnderTest backend = fixture().backend();
        LockOptions options = fixture().shortLease(silent);
        Lease taken = silent.named("taken", options).acquire();
        Lease retaken = silent.named("retaken", options).acquire();
        Lease untouched = silent.named("untouched", options).acquire();
        fixture().faultInjector().silence(silent, "S03, S05, S06, S11 over an expiry without a waiter");
        ContractTestFixture.eventually(
                "S02: the leases end by themselves",
                backend.takeoverWithin(),
                () -> !taken.isHeld() && !retaken.isHeld() && !untouched.isHeld());
        AtomicReference<@Nullable Lease> granted = new AtomicReference<>();
        ContractTestFixture.eventually(
                "S11: one attempt without a wait is granted the lock of a silent holder",
                backend.takeoverWithin(),
                () -> {
                    other.named("taken", options).tryAcquire().ifPresent(granted::set);
                    return granted.get() != null;
                });
        Lease successor = Objects.requireNonNull(granted.get());
        // Only a store with a clock of its own knows that a grant has ended which nobody has asked for.
        if (other.admin().isPresent() && other.capabilities().contains(Capability.DELAYED_RELEASE)) {
            LockAdmin admin = other.admin().orElseThrow();
            ContractTestFixture.eventually(
                    "S18: an expired lease is no holder",
                    backend.takeoverWithin(),
                    () -> ContractTestFixture.status(admin, "untouched")
                            .holders()
                            .isEmpty());
        }
        fixture().faultInjector().heal(silent);
        Lease again = silent.named("retaken", options)
                .tryAcquire(ContractTestFixture.LONG)
                .orElseThrow();
        ContractTestFixture.assertTokensIncrease(other, taken, successor);
        ContractTestFixture.assertTokensIncrease(other, retaken, again);
        assertThat(retaken.release())
                .as("S05: of the client that holds it again")
                .isEqualTo(ReleaseOutcome.LOST);
        ContractTestFixture.throughout(
                "renewals of the old client would show",
                backend.lease().multipliedBy(3).dividedBy(2),
                () -> {
                    assertThat(List.of(taken.isHeld(), retaken.isHeld(), untouched.isHeld()))
                            .as("S06: the expired leases are held again")
                            .containsOnly(false);
                    assertThat(List.of(successor.isHeld(), again.isHeld()))
                            .as("S06: the leases that followed")
                            .containsOnly(true);
                });
        for (String name : List.of("taken", "retaken")) {
            assertThat(third.named(name).tryAcquire()).as("S01: \"%s\"", name).isEmpty();
        }
        assertThat(taken.release()).as("S05").isEqualTo(ReleaseOutcome.LOST);
        assertThat(silent.named("taken").tryAcquire())
                .as("S05: the successor's lock")
                .isEmpty();
        assertThat(successor.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(again.release()).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(third, "taken");
        fixture().assertFree(third, "retaken");
        fixture().assertFreeAfterExpiry(third, "untouched");
    }

    /** More than fits into one page or batch of a store. */
    @Test
    default void S07_hundredsOfLeasesAreAllRenewed() throws Exception {
        LockClient client = fixture().client();
        List<Lease> leases = fixture().acquireAll(client, "x", 300);
        ContractTestFixture.throughout(
                "more than a lease has passed",
                fixture().backend().lease().multipliedBy(4).dividedBy(3),
                () -> assertThat(leases)
                        .as("S07: leases that are not held")
                        .filteredOn(lease -> !lease.isHeld())
                        .isEmpty());
        List<CompletableFuture<ReleaseOutcome>> outcomes =
                leases.stream().map(Lease::releaseAsync).toList();
        for (CompletableFuture<ReleaseOutcome> outcome : outcomes) {
            assertThat(ApiStyle.result(outcome)).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** A renewal has one answer for each lease of its batch. */
    @Test
    @Timeout(120)
    default void S07_theRemovalOfOneOfManyLeasesEndsThatOneAlone() throws Exception {
        LockClient holder = fixture().client(QUICK);
        LockClient rival = fixture().client(QUICK);
        LockOptions options = fixture().shortLease(holder);
        List<ContendedLease> leases = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            leases.add(ContendedLease.of(fixture(), holder, rival, "one of many/" + i, options));
        }
        ContendedLease removed = leases.remove(2);
        fixture().removeGrant(removed.name(), rival, "S06, S07 for one of several leases");
        BackendUnderTest backend = fixture().backend();
        Duration bound = backend.removalNotifiedWithin().plus(ContractTestFixture.PROMPT);
        ContractTestFixture.eventually("S07: the loss is announced", bound, () -> {
            leases.forEach(ContendedLease::assertHeld);
            return removed.losses().size() == 2;
        });
        assertThat(removed.losses())
                .as("S07: what both listeners were told")
                .extracting(LossReason::kind)
                .containsOnly(LossReason.Kind.REMOVED);
        removed.assertNextGranted();
        ContractTestFixture.throughout("one lease passes", backend.lease(), () -> {
            leases.forEach(ContendedLease::assertHeld);
            removed.assertNextGranted();
        });
        assertThat(removed.losses()).as("S07: what both listeners were told").hasSize(2);
        // Each renewal in a whole lease finds another grant missing.
        for (int i = 0; i < 5; i++) {
            fixture().removeGrant(leases.remove(0).name(), rival, "S06, S07 for several leases, one after another");
            ContractTestFixture.throughout(
                    "a part of a lease passes",
                    backend.lease().dividedBy(4),
                    () -> leases.forEach(ContendedLease::assertHeld));
        }
        for (ContendedLease one : leases) {
            one.releaseAndAwaitNextGrant();
        }
    }

    /** Nobody tells the holder, which learns of the deletion from the first renewal after the cut. */
    @Test
    @Timeout(120)
    default void S06_aGrantThatWasDeletedDuringACutStaysDeleted() throws Exception {
        LockClient holder = fixture().client(QUICK);
        LockClient other = fixture().client(QUICK);
        boolean perLock = other.capabilities().contains(Capability.PER_LOCK_LEASE);
        Duration lease = longerLease(other);
        LockOptions options = perLock ? LockOptions.defaults().leaseDuration(lease) : LockOptions.defaults();
        List<Lease> deleted = new ArrayList<>();
        for (String name : List.of("free", "taken")) {
            deleted.add(holder.named(name, options).acquire());
        }
        ContendedLease kept = ContendedLease.of(fixture(), holder, other, "kept", options);
        LockClient again = fixture().client(QUICK);
        deleted.add(again.named("retaken", options).acquire());
        fixture().faultInjector().cut(again, "S07 after a deletion during a short cut");
        fixture().removeGrant("retaken", other, "S07 after a deletion during a short cut");
        fixture().faultInjector().heal(again);
        // Soon, so that one renewal may be for both leases.
        Lease retaken = again.named("retaken", options)
                .tryAcquire(ContractTestFixture.LONG)
                .orElseThrow();
        fixture().faultInjector().cut(holder, "S06 after a deletion during a cut");
        fixture().removeGrant("free", other, "S06 after a deletion during a cut");
        fixture().removeGrant("taken", other, "S06 after a deletion during a cut");
        other.named("free").acquire().close();
        Lease taken = other.named("taken", options).acquire();
        ContractTestFixture.letPass("a renewal failed", lease.multipliedBy(2).dividedBy(5));
        fixture().faultInjector().heal(holder);
        ContractTestFixture.eventually(
                "S07: the losses are detected",
                lease.plus(ContractTestFixture.PROMPT),
                () -> deleted.stream().noneMatch(Lease::isHeld));
        ContractTestFixture.throughout("one lease passes", lease, () -> {
            assertThat(deleted).as("S06: deleted grants that are held again").noneMatch(Lease::isHeld);
            assertThat(taken.isHeld()).as("S06: the lease of the next owner").isTrue();
            if (perLock) {
                kept.assertHeld();
                assertThat(retaken.isHeld())
                        .as("S07: the lease that follows a deleted one of its client")
                        .isTrue();
            } else {
                kept.assertHeldOrLost();
            }
        });
        ContractTestFixture.assertConsistent(retaken.release(), retaken);
        fixture().assertFree(other, "free");
        assertThat(holder.named("taken").tryAcquire(Duration.ofSeconds(1)))
                .as("S01")
                .isEmpty();
        assertThat(taken.release()).isEqualTo(ReleaseOutcome.RELEASED);
        for (Lease one : deleted) {
            assertThat(one.release()).isEqualTo(ReleaseOutcome.LOST);
        }
        if (kept.old().isHeld()) {
            kept.releaseAndAwaitNextGrant();
        } else {
            kept.assertTakenOver();
        }
    }
}
