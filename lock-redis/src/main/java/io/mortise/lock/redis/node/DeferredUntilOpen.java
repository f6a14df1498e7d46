// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Queue;

/** Callbacks that wait until something is open, run in order; later ones run at once. */
final class DeferredUntilOpen {
    @GuardedBy("this")
    private final Queue<Runnable> later = new ArrayDeque<>();

    private volatile boolean open;

    boolean isOpen() {
        return open;
    }

    void run(Runnable action) {
        if (!open) {
            synchronized (this) {
                if (!open) {
                    later.add(action);
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
                next = later.poll();
                if (next == null) {
                    open = true;
                    return;
                }
            }
            next.run();
        }
    }
}
