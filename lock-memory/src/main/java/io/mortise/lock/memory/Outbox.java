// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the messages of one step on the calling thread, in order. One that a message sets off runs after it, not inside it: a
 * thousand waiters that release as soon as they are granted, on a direct executor, would exhaust the stack.
 */
final class Outbox {
    private static final ThreadLocal<@Nullable Deque<Runnable>> PENDING = new ThreadLocal<>();

    private Outbox() {}

    static void run(List<Runnable> messages) {
        Deque<Runnable> outer = PENDING.get();
        if (outer != null) {
            outer.addAll(messages);
            return;
        }
        Deque<Runnable> pending = new ArrayDeque<>(messages);
        PENDING.set(pending);
        try {
            for (Runnable message = pending.poll(); message != null; message = pending.poll()) {
                message.run();
            }
        } finally {
            PENDING.remove();
        }
    }
}
