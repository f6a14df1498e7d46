// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one after the other: a task that is submitted by a running one runs after it, not inside it. Where a store
 * answers on the calling thread, a thousand waiters would otherwise stand on one stack.
 */
public final class Trampoline {
    private static final ThreadLocal<@Nullable Deque<Runnable>> PENDING = new ThreadLocal<>();

    private Trampoline() {}

    /** Runs it now, or as soon as what this thread is handing on has returned. Throws what the first of them threw, once all have run. */
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
            } catch (RuntimeException | Error e) { // the others run all the same
                if (failure == null) {
                    failure = e;
                } else if (failure != e) {
                    failure.addSuppressed(e);
                }
            }
        }
        PENDING.remove();
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
