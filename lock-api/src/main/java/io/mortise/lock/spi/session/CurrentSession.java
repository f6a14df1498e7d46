// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LossReason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds the one session of a client, and opens a new one on demand after it has ended. Thread-safe.
 *
 * @param <S> the session class of the backend
 */
public final class CurrentSession<S extends CurrentSession.Session> {
    /** The part of a backend's session that this class uses. Implementations must be thread-safe. */
    public interface Session {
        /**
         * Starts to open the session in the store, without waiting for it. Called once, soon after the session object was
         * created, and not under a monitor. Default: does nothing, for sessions that are already open.
         */
        default void open() {}

        /** Returns whether the session has ended, so that it may not be used for new contenders. */
        boolean hasEnded();

        /** Ends the session and all grants that depend on it. Returns immediately. The reason of the first call counts. */
        void end(LossReason reason);

        /** Returns a future that completes when the store has closed the session, or when it is clear that it cannot. */
        CompletableFuture<Void> closed();
    }

    private static final LossReason CLIENT_CLOSED =
            new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed");

    private final Supplier<S> factory;

    /** Guards opening. It is not a monitor, since the factory may be application code that blocks. */
    private final ReentrantLock opening = new ReentrantLock();

    private volatile @Nullable S session;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile boolean closed;

    /**
     * Creates a holder without a session; the first call of {@link #get} opens one.
     *
     * @param factory creates a session. It is never called concurrently; if it throws, the next call of {@link #get} calls it
     *     again
     */
    public CurrentSession(Supplier<S> factory) {
        this.factory = factory;
    }

    /**
     * Returns the session for new contenders, and creates one if there is none or the last one has ended. Does not wait until
     * the session is open in the store.
     *
     * @throws ClientClosedException after {@link #close}
     */
    public S get() {
        S current = current();
        if (current != null) {
            return current;
        }
        S created;
        opening.lock();
        try {
            current = current();
            if (current != null) {
                return current;
            }
            created = factory.get();
            session = created;
        } finally {
            opening.unlock();
        }
        if (closed) { // a concurrent close() may not have seen this session
            created.end(CLIENT_CLOSED);
            throw new ClientClosedException("the client is closed");
        }
        created.open();
        return created;
    }

    private @Nullable S current() {
        if (closed) {
            throw new ClientClosedException("the client is closed");
        }
        S last = session;
        return last == null || last.hasEnded() ? null : last;
    }

    /** Returns the session that was created last, even if it has ended; empty if there was none. */
    public Optional<S> last() {
        return Optional.ofNullable(session);
    }

    /**
     * Ends the current session when the client closes, and prevents new ones. Returns immediately.
     *
     * @return the session whose {@link Session#closed()} the caller can wait for; empty if there is none, or after the first
     *     call
     */
    public Optional<S> close() {
        if (!ended.compareAndSet(false, true)) {
            return Optional.empty();
        }
        closed = true;
        Optional<S> last = Optional.ofNullable(session);
        last.ifPresent(current -> current.end(CLIENT_CLOSED));
        return last;
    }
}
