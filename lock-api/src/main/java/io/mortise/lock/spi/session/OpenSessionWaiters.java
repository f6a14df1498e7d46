// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A first-in-first-out queue of callers that wait until a session is open.
 *
 * <p>It keeps the order of S12; dependents of a single future would run last in, first out. Thread-safe.
 *
 * @param <T> the type of the open session
 */
public final class OpenSessionWaiters<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    @GuardedBy("this")
    private final Map<Long, CompletableFuture<T>> waiting = new LinkedHashMap<>(); // by their numbers

    @GuardedBy("this")
    private long joined;

    @GuardedBy("this")
    private boolean drained;

    /** Creates the queue of one session, which is not open yet. */
    public OpenSessionWaiters() {}

    /**
     * Returns a future that completes with the open session, after the futures that were returned before. It fails with the cause
     * of {@link #fail} if the session is not opened. A caller that no longer waits cancels it, so that the queue forgets it.
     */
    public CompletableFuture<T> join() {
        CompletableFuture<T> entry = new CompletableFuture<>();
        long number;
        synchronized (this) {
            if (drained) {
                return outcome;
            }
            number = joined++;
            waiting.put(number, entry);
        }
        entry.whenComplete((session, failure) -> forget(number));
        return entry;
    }

    private synchronized void forget(long number) {
        waiting.remove(number);
    }

    /** Returns the number of callers that wait, for tests. */
    synchronized int size() {
        return waiting.size();
    }

    /**
     * Reports that the session is open, and completes all stages.
     *
     * @return false if {@link #complete} or {@link #fail} was called before; then this call has no effect
     */
    public boolean complete(T session) {
        boolean first = outcome.complete(session);
        completeWaiters();
        return first;
    }

    /** Reports that the session will not be opened, and fails all stages. Has no effect if the session was opened. */
    public void fail(Throwable cause) {
        outcome.completeExceptionally(cause);
        completeWaiters();
    }

    /** Returns the session that was passed to {@link #complete}; empty if it is not open, or was not opened. */
    public Optional<T> openSession() {
        return outcome.isDone() && !outcome.isCompletedExceptionally() ? Optional.of(outcome.join()) : Optional.empty();
    }

    private void completeWaiters() {
        for (CompletableFuture<T> next = next(); next != null; next = next()) {
            CompletableFuture<T> entry = next;
            outcome.whenComplete((session, failure) -> {
                if (failure == null) {
                    entry.complete(session);
                } else {
                    entry.completeExceptionally(failure);
                }
            });
        }
    }

    private synchronized @Nullable CompletableFuture<T> next() {
        Iterator<CompletableFuture<T>> first = waiting.values().iterator();
        drained = !first.hasNext();
        if (drained) {
            return null;
        }
        CompletableFuture<T> next = first.next();
        first.remove();
        return next;
    }
}
