// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Callbacks that wait for a session to open, called in the order in which they came (S12). What hangs on one future would be
 * told last come, first served. Thread-safe.
 *
 * @param <T> what an open session is to those who waited
 */
public final class SessionWaitQueue<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    @GuardedBy("this")
    private final Deque<CompletableFuture<T>> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean told;

    /** For one session, which is yet to be opened. */
    public SessionWaitQueue() {}

    /** Completes when it is open, after those who joined before; fails as {@link #fail} says. */
    public synchronized CompletionStage<T> join() {
        if (told) {
            return outcome;
        }
        CompletableFuture<T> entry = new CompletableFuture<>();
        waiting.add(entry);
        return entry;
    }

    /** It is open. False: it has ended already. */
    public boolean complete(T session) {
        boolean first = outcome.complete(session);
        tell();
        return first;
    }

    /** It will not be opened; without effect if it was. */
    public void fail(Throwable cause) {
        outcome.completeExceptionally(cause);
        tell();
    }

    /** What {@link #complete} was given. */
    public Optional<T> now() {
        return outcome.isDone() && !outcome.isCompletedExceptionally() ? Optional.of(outcome.join()) : Optional.empty();
    }

    private void tell() {
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
        told = waiting.isEmpty();
        return waiting.poll();
    }
}
