// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Queue;

/** What is to happen once something is open happens then in the order in which it came; from then on at once. */
final class Opening {
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
