// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Wraps a shared clock for one client, so that closing the client cancels the timers of this client only. */
public final class ClientScopedClock implements LockClock {
    private final LockClock shared;
    private final Set<Task> tasks = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    public ClientScopedClock(LockClock shared) {
        this.shared = shared;
    }

    @Override
    public MonotonicInstant now() {
        return shared.now();
    }

    @Override
    public Timer schedule(Duration delay, Runnable run) {
        Task task = new Task(run);
        tasks.add(task);
        task.timer = shared.schedule(delay, task);
        if (stopped || task.cancelled) {
            task.cancel();
        }
        return task;
    }

    /** Returns whether a test controls the shared clock. */
    public boolean isManual() {
        return shared instanceof ManualClock;
    }

    /** Cancels all timers of the client, and those that are scheduled later. */
    public void stop() {
        stopped = true;
        List.copyOf(tasks).forEach(Task::cancel);
    }

    /** A timer of the client on the shared clock. */
    private final class Task implements Runnable, Timer {
        private final Runnable run;
        private volatile boolean cancelled;
        private volatile Timer timer = () -> {};

        Task(Runnable run) {
            this.run = run;
        }

        @Override
        public void run() {
            tasks.remove(this);
            if (!cancelled) {
                run.run();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            tasks.remove(this);
            timer.cancel();
        }
    }
}
