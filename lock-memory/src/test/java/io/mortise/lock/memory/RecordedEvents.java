// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import io.mortise.lock.LockListener;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Listener of the tests, which records each event as one line; all acquires share one list. */
final class RecordedEvents implements LockListener, LockListener.AcquireObserver, LockListener.LeaseObserver {
    final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    final CountDownLatch waiting = new CountDownLatch(1);
    final List<Thread> starters = Collections.synchronizedList(new ArrayList<>());

    /** Returns the lines so far, and forgets them. */
    List<String> take() {
        synchronized (lines) {
            List<String> taken = List.copyOf(lines);
            lines.clear();
            return taken;
        }
    }

    @Override
    public AcquireObserver acquireStarted(String backend, String lockName) {
        starters.add(Thread.currentThread());
        lines.add("start " + backend + " " + lockName);
        return this;
    }

    @Override
    public void waiting() {
        lines.add("waiting");
        waiting.countDown();
    }

    @Override
    public LeaseObserver granted(Lease lease) {
        lines.add("granted " + lease.fencingToken());
        return this;
    }

    @Override
    public void busy() {
        lines.add("busy");
    }

    @Override
    public void withdrawn() {
        lines.add("withdrawn");
    }

    @Override
    public void failed(LockException failure) {
        lines.add("failed " + failure.getClass().getSimpleName());
    }

    @Override
    public void renewed(Duration slack, Duration leaseDuration) {
        lines.add("renewed " + slack.toMillis() + " of " + leaseDuration.toMillis());
    }

    @Override
    public void lost(LossReason reason, Duration held) {
        lines.add("lost " + reason.kind() + " after " + held.toSeconds());
    }

    @Override
    public void released(ReleaseOutcome outcome, Duration held) {
        lines.add("released " + outcome + " after " + held.toSeconds());
    }
}
