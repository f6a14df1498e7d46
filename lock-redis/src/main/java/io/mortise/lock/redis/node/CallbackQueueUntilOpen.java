// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Queue;

/** Queues callbacks until a connection is open, and then runs them in order. Later callbacks run at once. */
final class CallbackQueueUntilOpen {
    @GuardedBy("this")
    private final Queue<Runnable> queued = new ArrayDeque<>();

    private volatile boolean open;

    boolean isOpen() {
        return open;
    }

    void run(Runnable action) {
        if (!open) {
            synchronized (this) {
                if (!open) {
                    queued.add(action);
                    return;
                }
            }
        }
        action.run();
    }

    void open() {
        while (true) {
            Runnable next;
            synchronized (this) {
                next = queued.poll();
                if (next == null) {
                    open = true;
                    return;
                }
            }
            next.run();
        }
    }
}
