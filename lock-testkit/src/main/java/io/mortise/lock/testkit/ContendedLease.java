// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A lease on a lock that another client is waiting for, so that a test notices as soon as the lease ends in the store. */
final class ContendedLease {
    private final ContractTestFixture fixture;
    private final Lease old;
    private final Duration longest;
    private final LockClient rival;
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private final AtomicLong grantedAt = new AtomicLong();
    private final AtomicBoolean bothHeld = new AtomicBoolean();
    private final CompletableFuture<Lease> waiting;

    private ContendedLease(ContractTestFixture fixture, Lease old, LockClient rival, LockOptions options) {
        this.fixture = fixture;
        this.old = old;
        this.longest = mostThatRemains(options.leaseDuration()
                .map(requested -> fixture.leaseInForce(rival, requested))
                .orElse(fixture.backend().lease()));
        this.rival = rival;
        old.lost().thenAccept(losses::add);
        old.lost().thenAccept(losses::add); // a second listener
        this.waiting = rival.named(old.lockName(), options).acquireAsync();
        waiting.thenAccept(next -> {
            grantedAt.set(System.nanoTime());
            bothHeld.set(old.isHeld() && next.isHeld());
        });
    }

    /** Acquires the lock for one client, and has another one wait for it. */
    static ContendedLease of(
            ContractTestFixture fixture, LockClient holder, LockClient rival, String name, LockOptions options)
            throws InterruptedException {
        return new ContendedLease(fixture, holder.named(name, options).acquire(), rival, options);
    }

    /** Returns the lease duration in force, which is sent in whole milliseconds, less the margin of S2: 1 % and 2 ms. */
    static Duration mostThatRemains(Duration inForce) {
        Duration lease = Durations.roundUpToMillis(inForce);
        return lease.minus(lease.dividedBy(100)).minusMillis(2);
    }

    String name() {
        return old.lockName();
    }

    /** Returns the lease that was there first. */
    Lease old() {
        return old;
    }

    /** Returns what the two listeners of the old lease were notified of. */
    List<LossReason> losses() {
        return losses;
    }

    boolean isGrantedToWaiter() {
        return waiting.isDone() && grantedAt.get() != 0;
    }

    Duration grantedAfter(long startNanos) {
        return Duration.ofNanos(grantedAt.get() - startNanos);
    }

    void assertHeld() {
        assertThat(old.isHeld())
                .as("S07: \"%s\" is held; losses announced: %s", name(), losses)
                .isTrue();
        assertThat(old.remaining()).as("S02: remaining() of \"%s\"", name()).isLessThanOrEqualTo(longest);
        assertThat(waiting.isDone() && old.isHeld())
                .as("S01: \"%s\" was granted to a waiter too", name())
                .isFalse();
        assertThat(losses).as("S07: losses announced for \"%s\"", name()).isEmpty();
    }

    /** Asserts that no second lease is valid at the same time, and that a lease that has ended stays so. */
    void assertHeldOrLost() {
        boolean granted = isGrantedToWaiter();
        assertThat(granted && old.isHeld())
                .as("S01: \"%s\" was granted to a waiter too", name())
                .isFalse();
        assertThat(bothHeld).as("S02: two leases of \"%s\" are held", name()).isFalse();
    }

    void assertTakenOver() throws Exception {
        assertNextGranted();
        assertThat(bothHeld).as("S02: two leases of \"%s\" are held", name()).isFalse();
    }

    /** Asserts as {@link #assertTakenOver} does, but both leases may have been held until the holder learned of a deletion. */
    void assertNextGranted() throws Exception {
        ContractTestFixture.eventually(
                "S11: the waiter for \"" + name() + "\" is granted it",
                fixture.backend().takeoverWithin(),
                this::isGrantedToWaiter);
        assertThat(old.isHeld())
                .as("S06: the lost lease of \"%s\" is held", name())
                .isFalse();
        Lease next = ContractTestFixture.await(waiting);
        assertThat(next.isHeld())
                .as("S06: the successor's lease of \"%s\"", name())
                .isTrue();
        ContractTestFixture.assertTokensIncrease(rival, old, next);
    }

    /** Ends both leases: the old one first, unless it was lost. */
    void releaseAndAwaitNextGrant() throws Exception {
        boolean held = old.isHeld();
        ReleaseOutcome outcome = old.release();
        assertThat(outcome)
                .as("S05: of \"%s\"", name())
                .isEqualTo(held ? ReleaseOutcome.RELEASED : ReleaseOutcome.LOST);
        assertTakenOver();
        Lease next = ContractTestFixture.await(waiting);
        assertThat(next.release()).as("S05: of \"%s\"", name()).isEqualTo(ReleaseOutcome.RELEASED);
        Optional<LossReason> late = losses.stream().findFirst();
        assertThat(late.isPresent())
                .as("S07: \"%s\" announced %s", name(), losses)
                .isEqualTo(!held);
    }
}
