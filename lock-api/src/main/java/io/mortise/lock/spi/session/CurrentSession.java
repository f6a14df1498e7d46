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
 * @param <S> what a session is to its backend
 */
public final class CurrentSession<S extends CurrentSession.Session> {
    /** As much of a session as this must know. Thread-safe. */
    public interface Session {
        /** Called once, soon after it was made and under no monitor: goes to the store. Does not wait. Default: has done so already. */
        default void begin() {}

        /** Whether it has ended: nothing new may hang on it. */
        boolean hasEnded();

        /** Ends it, and whatever hangs on it. Returns at once; the first reason stays. */
        void over(LossReason reason);

        /** Completes when the store has heard of its end, or cannot. */
        CompletableFuture<Void> closed();
    }

    private static final LossReason CLIENT_CLOSED =
            new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed");

    private final Supplier<S> fresh;

    /** No monitor: what makes a session may be the application's code, and wait. Whoever finds a live session never takes it. */
    private final ReentrantLock making = new ReentrantLock();

    private volatile @Nullable S session;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile boolean closed;

    /**
     * Makes none yet.
     *
     * @param fresh makes one, not two at a time; if it throws, whoever asks next calls it again
     */
    public CurrentSession(Supplier<S> fresh) {
        this.fresh = fresh;
    }

    /**
     * The session for new contenders; does not wait until it is open.
     *
     * @throws ClientClosedException after {@link #end}
     */
    public S get() {
        S standing = standing();
        if (standing != null) {
            return standing;
        }
        S made;
        making.lock();
        try {
            standing = standing();
            if (standing != null) {
                return standing;
            }
            made = fresh.get();
            session = made;
        } finally {
            making.unlock();
        }
        if (closed) { // it may have come too late for end() to see it
            made.over(CLIENT_CLOSED);
            throw new ClientClosedException("the client is closed");
        }
        made.begin();
        return made;
    }

    private @Nullable S standing() {
        if (closed) {
            throw new ClientClosedException("the client is closed");
        }
        S last = session;
        return last == null || last.hasEnded() ? null : last;
    }

    /** The last one that was made. */
    public Optional<S> last() {
        return Optional.ofNullable(session);
    }

    /** For the client's end: there is no other after it. Returns at once; empty if there is nothing to wait for. */
    public Optional<S> end() {
        if (!ended.compareAndSet(false, true)) {
            return Optional.empty();
        }
        closed = true;
        Optional<S> last = Optional.ofNullable(session);
        last.ifPresent(standing -> standing.over(CLIENT_CLOSED));
        return last;
    }
}
