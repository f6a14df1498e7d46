// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the ended attempts whose cleanup at one master is pending. While there are too many, no vote is requested from that
 * master. Thread-safe.
 */
public final class CleanupBacklogCounter {
    /** Soft limit: vote requests that are in flight when it is reached may exceed it by those of a few node timeouts. */
    public static final int MAX_PENDING = 256;

    private final AtomicInteger pending = new AtomicInteger();
    private final Set<String> attemptIds = ConcurrentHashMap.newKeySet();

    /** Returns the number of attempts whose cleanup has failed at least once and is still repeated. */
    public int size() {
        return pending.get();
    }

    /** Returns whether so many cleanups are pending that no further vote may be requested from the master. */
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
     * @param whenEnded action that runs once, when the cleanup has ended
     */
    public Entry add(String attemptId, Runnable whenEnded) {
        return new Entry(attemptId, whenEnded);
    }

    /** The pending cleanup of one attempt. It counts only after a try has failed, since a responsive master has no backlog. */
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
