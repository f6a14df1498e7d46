// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the acquires of waiters one after the other, so that they are queued in the order in which they asked (S12). While the
 * store does not answer they go at once, so that nobody waits for the silence of each one before. Nobody is told anything
 * under the monitor.
 */
public final class AcquireSequencer {
    /** One that wants to send its acquire. Told on any thread; returns at once. */
    public interface Sender {
        /** It may send now. {@link #answered}, {@link #open} or {@link #leave} follows. */
        void mayGo();

        /** By the answer to another's acquire the lock is somebody else's; it is sent later, if it is wanted. */
        void behind();

        /** The store does not answer, and it is not wanted: it is not sent. */
        void unsent();

        /** False: nobody waits for it any more, and never will. */
        boolean isWanted();
    }

    private static final Logger log = LoggerFactory.getLogger(AcquireSequencer.class);

    @GuardedBy("this")
    private final Set<Sender> waiting = new LinkedHashSet<>();

    /** Those in the queue who have asked, and were told nothing since. */
    @GuardedBy("this")
    private final Set<Sender> asking = new LinkedHashSet<>();

    /** The one that may send; null only if nobody is in the queue. */
    @GuardedBy("this")
    private @Nullable Sender going;

    /** The store answers. */
    @GuardedBy("this")
    private boolean orderly = true;

    /** Whether it may send now; if not, it is told when it may. Asked again it keeps its position. */
    public synchronized boolean mayGo(Sender sender) {
        if (!orderly) {
            return true;
        }
        if (going == null || going == sender) {
            going = sender;
            return true;
        }
        waiting.add(sender);
        asking.add(sender);
        return false;
    }

    /**
     * What it sent was answered.
     *
     * @param taken somebody else has the lock, who is not about to leave: the others are told before the next one may send, since
     *     its answer may come too late for it
     */
    public void answered(Sender sender, boolean taken) {
        Sender next;
        List<Sender> behind = List.of();
        synchronized (this) {
            orderly = true;
            waiting.remove(sender); // it became first while it asked again by itself
            asking.remove(sender);
            if (taken) {
                behind = List.copyOf(asking);
                asking.clear();
            }
            next = after(sender);
        }
        behind.forEach(one -> tell(one::behind));
        startNext(next);
    }

    /** The store did not answer: nobody waits for anybody, until it does. */
    public void open() {
        List<Sender> all;
        synchronized (this) {
            orderly = false;
            going = null;
            all = List.copyOf(waiting);
            waiting.clear();
            asking.clear();
        }
        all.forEach(one -> tell(one.isWanted() ? one::mayGo : one::unsent));
    }

    /** It has nothing to send any more, and nothing under way. Idempotent. */
    public void leave(Sender sender) {
        Sender next;
        synchronized (this) {
            waiting.remove(sender);
            asking.remove(sender);
            next = after(sender);
        }
        startNext(next);
    }

    /** Returns the sender that follows this one; null if there is none, or another one may send. */
    @GuardedBy("this")
    private @Nullable Sender after(Sender left) {
        if (going != left) {
            return null;
        }
        Sender next = waiting.isEmpty() ? null : waiting.iterator().next();
        if (next != null) {
            waiting.remove(next);
            asking.remove(next);
        }
        going = next;
        return next;
    }

    /** Who is not wanted any more would put a key only to delete it: a round trip for all behind. */
    private void startNext(@Nullable Sender first) {
        Sender next = first;
        while (next != null && !next.isWanted()) {
            Sender passed = next;
            synchronized (this) {
                next = after(passed);
            }
            tell(passed::behind);
        }
        if (next != null) {
            tell(next::mayGo);
        }
    }

    /** One that fails must not keep it from the others. */
    private static void tell(Runnable told) {
        try {
            told.run();
        } catch (RuntimeException | Error e) {
            log.error("event=ordered-callback-failed", e);
        }
    }
}
