// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets the waiters of one lock send their acquire requests one at a time, in the order of their calls. Thus they are queued
 * in that order (S12). While the store does not respond, all may send at once, so that no waiter waits for the timeout of
 * each one before it. No callback runs under the monitor.
 */
public final class AcquireSequencer {
    /** A waiter that wants to send its acquire request. Called on any thread; returns at once. */
    public interface Sender {
        /**
         * Sends the acquire request now. A call of {@link #onReply}, {@link #releaseAll} or {@link #remove} must follow.
         */
        void sendNow();

        /**
         * Reports that another client or waiter has the lock, as the reply to another acquire request shows. This request
         * is sent later, if it is still needed.
         */
        void lockTaken();

        /** Reports that the request is not sent, because the store does not respond and no caller needs the request. */
        void notSent();

        /** Returns false once no caller waits for the request any more, which is final. */
        boolean isStillNeeded();
    }

    @GuardedBy("this")
    private final Set<Sender> waiting = new LinkedHashSet<>();

    /** The senders in the queue that have asked to send and have not been notified since. */
    @GuardedBy("this")
    private final Set<Sender> unnotified = new LinkedHashSet<>();

    /** The sender that may send; null only if the queue is empty. */
    @GuardedBy("this")
    private @Nullable Sender active;

    /** Whether requests are sent one at a time, because the store responds. */
    @GuardedBy("this")
    private boolean sequencing = true;

    /**
     * Returns whether the sender may send now. If not, it is queued and called back later. A repeated call does not change
     * its position.
     */
    public synchronized boolean maySend(Sender sender) {
        if (!sequencing) {
            return true;
        }
        if (active == null || active == sender) {
            active = sender;
            return true;
        }
        waiting.add(sender);
        unnotified.add(sender);
        return false;
    }

    /**
     * Ends the turn of a sender whose request got a reply.
     *
     * @param lockTaken whether the sender or another contender has the lock and is not about to leave: the other senders are
     *     then notified before the next one may send, since the reply to its own request may come too late for it
     */
    public void onReply(Sender sender, boolean lockTaken) {
        Sender next;
        List<Sender> toNotify = List.of();
        synchronized (this) {
            sequencing = true;
            waiting.remove(sender); // if it became active while it asked again by itself
            unnotified.remove(sender);
            if (lockTaken) {
                toNotify = List.copyOf(unnotified);
                unnotified.clear();
            }
            next = successorOf(sender);
        }
        toNotify.forEach(other -> IsolatedCallback.run(other::lockTaken));
        startNext(next);
    }

    /** Lets all senders send at once, and keeps no order until the next reply. Called when the store does not respond. */
    public void releaseAll() {
        List<Sender> all;
        synchronized (this) {
            sequencing = false;
            active = null;
            all = List.copyOf(waiting);
            waiting.clear();
            unnotified.clear();
        }
        all.forEach(other -> IsolatedCallback.run(other.isStillNeeded() ? other::sendNow : other::notSent));
    }

    /** Forgets all senders. Called when their session has ended, of which the queue notifies them. */
    synchronized void end() {
        active = null;
        waiting.clear();
        unnotified.clear();
    }

    /** Removes a sender that has nothing more to send and no request in flight. Idempotent. */
    public void remove(Sender sender) {
        Sender next;
        synchronized (this) {
            waiting.remove(sender);
            unnotified.remove(sender);
            next = successorOf(sender);
        }
        startNext(next);
    }

    /** Ends the turn of the sender and returns the next one; null if none waits, or if it was another sender's turn. */
    @GuardedBy("this")
    private @Nullable Sender successorOf(Sender sender) {
        if (active != sender) {
            return null;
        }
        Sender next = waiting.isEmpty() ? null : waiting.iterator().next();
        if (next != null) {
            waiting.remove(next);
            unnotified.remove(next);
        }
        active = next;
        return next;
    }

    /**
     * Starts the next sender. A sender that is no longer needed is skipped: it would put a key only to delete it, which
     * costs all others a round trip.
     */
    private void startNext(@Nullable Sender first) {
        Sender next = first;
        while (next != null && !next.isStillNeeded()) {
            Sender skipped = next;
            synchronized (this) {
                next = successorOf(skipped);
            }
            IsolatedCallback.run(skipped::lockTaken);
        }
        if (next != null) {
            IsolatedCallback.run(next::sendNow);
        }
    }
}
