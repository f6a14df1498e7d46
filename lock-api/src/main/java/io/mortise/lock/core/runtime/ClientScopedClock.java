// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** View of a clock that outlives the client: the client's timers end with the client. */
public final class ClientScopedClock implements LockClock {
    private final LockClock lender;
    private final Set<Task> tasks = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    public ClientScopedClock(LockClock lender) {
        this.lender = lender;
    }

    @Override
    public MonotonicTime now() {
        return lender.now();
    }

    @Override
    public Timer schedule(Duration delay, Runnable run) {
        Task task = new Task(run);
        tasks.add(task);
        task.timer = lender.schedule(delay, task);
        if (stopped || task.over) {
            task.cancel();
        }
        return task;
    }

    public boolean isHandCranked() {
        return lender instanceof ManualClock;
    }

    public void stop() {
        stopped = true;
        List.copyOf(tasks).forEach(Task::cancel);
    }

    private final class Task implements Runnable, Timer {
        private final Runnable run;
        private volatile boolean over;
        private volatile Timer timer = () -> {};

        Task(Runnable run) {
            this.run = run;
        }

        @Override
        public void run() {
            tasks.remove(this);
            if (!over) {
                run.run();
            }
        }

        @Override
        public void cancel() {
            over = true;
            tasks.remove(this);
            timer.cancel();
        }
    }
}
