// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The default {@link LeaseLock}: counts the holds of each thread on a lease of the thread. */
final class CoreLeaseLock implements LeaseLock {
    /** The lease of one thread, and how often the thread has locked it. */
    static final class Hold {
        final HeldLease lease;
        int count = 1;

        Hold(HeldLease lease) {
            this.lease = lease;
        }
    }

    private final CoreLock lock;

    /** Several threads may have a hold: a thread whose lease was lost keeps it until it unlocks. */
    @SuppressWarnings("ThreadLocalUsage") // the holds of this lock alone
    private final ThreadLocal<@Nullable Hold> holds;

    CoreLeaseLock(CoreLock lock, ThreadLocal<@Nullable Hold> holds) {
        this.lock = lock;
        this.holds = holds;
    }

    @Override
    public void lock() {
        if (!enterAgain()) {
            begin(lock.awaitUninterruptibly(null));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        failIfInterrupted();
        if (!enterAgain()) {
            begin(Optional.of(lock.acquire()));
        }
    }

    @Override
    public boolean tryLock() {
        return enterAgain() || begin(lock.awaitUninterruptibly(Duration.ZERO));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Duration maxWait = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
        failIfInterrupted();
        return enterAgain() || begin(lock.tryAcquire(maxWait));
    }

    /** Fails as a first hold does, so that an interrupt is not missed by code that happens to be nested. */
    private void failIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(
                    "interrupted before lock \"" + LockName.shown(lock.name()) + "\" was requested");
        }
    }

    private boolean enterAgain() {
        Hold hold = holds.get();
        if (hold == null) {
            return false;
        }
        hold.lease.ensureHeld();
        hold.count = Math.incrementExact(hold.count);
        return true;
    }

    private boolean begin(Optional<Lease> lease) {
        lease.ifPresent(this::begin);
        return lease.isPresent();
    }

    private void begin(Lease granted) {
        try {
            holds.set(new Hold((HeldLease) granted));
        } catch (Throwable e) { // such as no memory: nobody could unlock
            granted.releaseAsync();
            throw e;
        }
    }

    @Override
    public void unlock() {
        Hold hold = ownHold();
        hold.count--;
        if (hold.count > 0) {
            hold.lease.ensureHeld();
            return;
        }
        holds.remove();
        if (hold.lease.releaseUninterruptibly() == ReleaseOutcome.LOST) {
            throw CoreLock.lost(hold.lease);
        }
    }

    @Override
    public Lease lease() {
        return ownHold().lease;
    }

    @Override
    public int holdCount() {
        Hold hold = holds.get();
        return hold == null ? 0 : hold.count;
    }

    private Hold ownHold() {
        Hold hold = holds.get();
        if (hold == null) {
            throw new IllegalMonitorStateException("thread "
                    + Thread.currentThread().getName() + " does not hold lock \"" + LockName.shown(lock.name()) + "\"");
        }
        return hold;
    }

    @Override
    public String toString() {
        return "LeaseLock[" + LockName.shown(lock.name()) + ", held " + holdCount() + " times by this thread]";
    }
}
