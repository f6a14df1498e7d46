// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Model of a correct lock in a store, with a queue, increasing tokens, and sessions that expire. */
final class ModelLock {
    static final long SESSION = 2_000_000_000L;

    private final Deque<ModelThread> queue = new ArrayDeque<>();
    private @Nullable ModelThread holder;
    private long token = 100;
    private long highestWritten = Long.MIN_VALUE;

    void enqueue(ModelThread thread) {
        queue.add(thread);
        cleanUp();
    }

    /** Returns the token if the lock is granted to the thread, else null. */
    @Nullable
    Long tokenOf(ModelThread thread) {
        return holder == thread ? token : null;
    }

    /** Removes the thread's queue entry or grant; returns whether it had the grant. */
    boolean end(ModelThread thread) {
        queue.remove(thread);
        if (holder != thread) {
            return false;
        }
        holder = null;
        cleanUp();
        return true;
    }

    boolean knows(ModelThread thread) {
        return holder == thread || queue.contains(thread);
    }

    boolean write(long withToken) {
        if (withToken < highestWritten) {
            return false;
        }
        highestWritten = withToken;
        return true;
    }

    private void cleanUp() {
        if (holder == null) {
            holder = queue.poll();
            if (holder != null) {
                token++;
            }
        }
    }
}
