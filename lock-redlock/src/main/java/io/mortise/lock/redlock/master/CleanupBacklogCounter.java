// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the ended attempts whose cleanup at one master is pending. While there are too many, the master is asked for no more
 * votes. Thread-safe.
 */
public final class CleanupBacklogCounter {
    /** Votes that are under way when this is reached exceed it by no more than some node timeouts' worth. */
    public static final int MAX_PENDING = 256;

    private final AtomicInteger pending = new AtomicInteger();
    private final Set<String> attemptIds = ConcurrentHashMap.newKeySet();

    /** Returns the number of attempts whose cleanup has failed at least once and is still repeated. */
    public int size() {
        return pending.get();
    }

    /** Returns whether so many cleanups are pending that the master must not be asked for another vote. */
    public boolean isFull() {
        return pending.get() >= MAX_PENDING;
    }

    /** Returns whether the cleanup of that attempt is pending. */
    public boolean contains(String attemptId) {
        return attemptIds.contains(attemptId);
    }

    /**
     * Adds an attempt whose cleanup begins.
     *
     * @param whenEnded run once, when the cleanup has ended
     */
    public Entry add(String attemptId, Runnable whenEnded) {
        return new Entry(attemptId, whenEnded);
    }

    /** The pending cleanup of one attempt. It counts once a try has failed: a master that answers has no backlog. */
    public final class Entry {
        private final String attemptId;
        private final Runnable whenEnded;

        @GuardedBy("this")
        private boolean counted;

        @GuardedBy("this")
        private boolean ended;

        private Entry(String attemptId, Runnable whenEnded) {
            this.attemptId = attemptId;
            this.whenEnded = whenEnded;
            attemptIds.add(attemptId);
        }

        /** Records that a try has failed. */
        public synchronized void failed() {
            if (!counted && !ended) {
                counted = true;
                pending.incrementAndGet();
            }
        }

        /** Records that the cleanup has succeeded or is no longer needed. */
        public void ended() {
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
                attemptIds.remove(attemptId);
                if (counted) {
                    pending.decrementAndGet();
                }
            }
            whenEnded.run();
        }
    }
}
