// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires of those who wait go one after the other: the server takes up requests of one connection in any order, and who
 * asked first is to stand first (S12). While the store does not answer they go at once, so that nobody waits for the silence of
 * each one before. Nobody is told anything under the monitor.
 */
final class AcquireOrder {
    /** One that wants to send its acquire. Told on any thread; returns at once. */
    interface Sender {
        /** It may send now. {@link #answered}, {@link #open} or {@link #leave} follows. */
        void mayGo();

        /** By the answer to another's acquire the lock is somebody else's; its own turn is yet to come. */
        void behind();
    }

    private static final Logger log = LoggerFactory.getLogger(AcquireOrder.class);

    @GuardedBy("this")
    private final Set<Sender> line = new LinkedHashSet<>();

    /** Those in line who have asked, and were told nothing since. */
    @GuardedBy("this")
    private final Set<Sender> asking = new LinkedHashSet<>();

    /** Whose turn it is; null only if nobody is in line. */
    @GuardedBy("this")
    private @Nullable Sender going;

    /** The store answers. */
    @GuardedBy("this")
    private boolean orderly = true;

    /** Whether it may send now; if not, it is told of its turn. Asked again it keeps its place. */
    synchronized boolean mayGo(Sender sender) {
        if (!orderly) {
            return true;
        }
        if (going == null || going == sender) {
            going = sender;
            return true;
        }
        line.add(sender);
        asking.add(sender);
        return false;
    }

    /**
     * What it sent was answered.
     *
     * @param taken somebody else has the lock, who is not about to leave: the others are told
     */
    void answered(Sender sender, boolean taken) {
        Sender next = null;
        List<Sender> behind;
        synchronized (this) {
            orderly = true;
            line.remove(sender); // its turn came while it asked again by itself
            asking.remove(sender);
            if (going == sender) {
                next = next();
            }
            behind = taken ? List.copyOf(asking) : List.of();
            asking.removeAll(behind);
        }
        if (next != null) {
            tell(next::mayGo);
        }
        behind.forEach(one -> tell(one::behind));
    }

    /** The store did not answer: nobody waits for anybody, until it does. */
    void open() {
        List<Sender> all;
        synchronized (this) {
            orderly = false;
            going = null;
            all = List.copyOf(line);
            line.clear();
            asking.clear();
        }
        all.forEach(one -> tell(one::mayGo));
    }

    /** It has nothing to send any more, and nothing under way. Idempotent. */
    void leave(Sender sender) {
        Sender next = null;
        synchronized (this) {
            line.remove(sender);
            asking.remove(sender);
            if (going == sender) {
                next = next();
            }
        }
        if (next != null) {
            tell(next::mayGo);
        }
    }

    @GuardedBy("this")
    private @Nullable Sender next() {
        Sender next = line.isEmpty() ? null : line.iterator().next();
        if (next != null) {
            line.remove(next);
            asking.remove(next);
        }
        going = next;
        return next;
    }

    /** One that fails must not keep it from the others. */
    private static void tell(Runnable told) {
        try {
            told.run();
        } catch (RuntimeException | Error e) {
            log.error("event=turn-failed", e);
        }
    }
}
