// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in a loop instead of recursively, so that long chains of tasks do not overflow the stack.
 *
 * <p>A task that is submitted by a running task runs after it, on the same thread. Otherwise, with a store that completes
 * requests on the calling thread, each waiter in a queue would add its frames to one stack.
 */
public final class Trampoline {
    private static final ThreadLocal<@Nullable Deque<Runnable>> PENDING = new ThreadLocal<>();

    private Trampoline() {}

    /**
     * Runs the task now; or, if this thread is already running a task here, after that task and those submitted before. The
     * outermost call returns when all tasks have run; it then throws the first failure, with the others as suppressed
     * exceptions.
     */
    public static void run(Runnable task) {
        Deque<Runnable> pending = PENDING.get();
        if (pending != null) {
            pending.add(task);
            return;
        }
        Deque<Runnable> mine = new ArrayDeque<>();
        PENDING.set(mine);
        @Nullable Throwable failure = null;
        for (Runnable next = task; next != null; next = mine.poll()) {
            try {
                next.run();
            } catch (Throwable e) { // the remaining tasks must still run
                failure = EffectPerformer.first(failure, e);
            }
        }
        PENDING.remove();
        EffectPerformer.rethrow(failure);
    }
}
