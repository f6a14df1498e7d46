// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Hands the turn on without growing the stack: what one waiter sets off for the next runs after it, not inside it. Where a
 * store answers on the calling thread, a thousand waiters would otherwise stand on one stack.
 */
final class Relay {
    private static final ThreadLocal<@Nullable Deque<Runnable>> PENDING = new ThreadLocal<>();

    private Relay() {}

    /** Runs it now, or as soon as what this thread is handing on has returned. */
    static void run(Runnable turn) {
        Deque<Runnable> pending = PENDING.get();
        if (pending != null) {
            pending.add(turn);
            return;
        }
        Deque<Runnable> mine = new ArrayDeque<>();
        PENDING.set(mine);
        try {
            for (Runnable next = turn; next != null; next = mine.poll()) {
                next.run();
            }
        } finally {
            PENDING.remove();
        }
    }
}
