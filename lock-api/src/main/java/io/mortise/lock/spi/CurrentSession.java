// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LossReason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * For backends with a session: one at a time, made anew for whoever asks after the last one has ended. Thread-safe.
 *
 * @param <S> what a session is to its backend
 */
public final class CurrentSession<S extends CurrentSession.Session> {
    /** As much of a session as this must know. Thread-safe. */
    public interface Session {
        /** Called once, soon after it was made and under no monitor: goes to the store. Does not wait. Default: has done so already. */
        default void begin() {}

        /** Whether it has ended: nothing new may hang on it. */
        boolean isOver();

        /** Ends it, and whatever hangs on it. Returns at once; the first reason stays. */
        void over(LossReason reason);

        /** Completes when the store has heard of its end, or cannot. */
        CompletableFuture<Void> closed();
    }

    private final Supplier<S> fresh;

    @GuardedBy("this")
    private @Nullable S session;

    @GuardedBy("this")
    private boolean closed;

    /**
     * Makes none yet.
     *
     * @param fresh makes one, not two at a time; if it throws, whoever asks next calls it again
     */
    public CurrentSession(Supplier<S> fresh) {
        this.fresh = fresh;
    }

    /**
     * The session for new tickets; does not wait until it is open.
     *
     * @throws ClientClosedException after {@link #end}
     */
    public S get() {
        S made;
        synchronized (this) {
            if (closed) {
                throw new ClientClosedException("the client is closed");
            }
            if (session != null && !session.isOver()) {
                return session;
            }
            made = fresh.get();
            session = made;
        }
        made.begin();
        return made;
    }

    /** The last one that was made. */
    public synchronized Optional<S> last() {
        return Optional.ofNullable(session);
    }

    /** For the client's end: there is no other after it. Returns at once; empty if there is nothing to wait for. */
    public Optional<S> end() {
        Optional<S> last;
        synchronized (this) {
            last = closed ? Optional.empty() : Optional.ofNullable(session);
            closed = true;
        }
        last.ifPresent(ended -> ended.over(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed")));
        return last;
    }
}
