// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Removes what one acquire attempt may have left in the store: {@link CleanupRetrier} repeats it until the store responds or
 * a try after the lease duration has failed too (S8).
 */
public final class PendingCleanup<T> {
    private final String what;
    private final Supplier<? extends CompletionStage<? extends T>> cleanup;
    private final MonotonicInstant until;
    private final Listener<? super T> listener;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile LockClock.@Nullable Timer retry;
    private int tries; // tries never overlap

    /** Callback for the end of a cleanup. One of its methods is called once, on any thread. */
    public interface Listener<T> {
        /**
         * Notifies that the store responded.
         *
         * @param response the result of the last try
         * @param firstTry whether that was the first try
         */
        default void completed(T response, boolean firstTry) {}

        /**
         * Notifies that the cleanup was given up, because its time has passed or the client closes.
         *
         * @param last the failure of the last try
         */
        default void givenUp(Throwable last) {}
    }

    /**
     * Creates a cleanup, which {@link CleanupRetrier#begin} starts.
     *
     * @param what the description of the possible orphan, for the log
     * @param cleanup starts one try
     * @param until no try that is sent before this instant is the last one
     * @param listener is notified of the end
     */
    public PendingCleanup(
            String what,
            Supplier<? extends CompletionStage<? extends T>> cleanup,
            MonotonicInstant until,
            Listener<? super T> listener) {
        this.what = what;
        this.cleanup = cleanup;
        this.until = until;
        this.listener = listener;
    }

    /** Returns the description of the possible orphan, for the log. */
    String what() {
        return what;
    }

    MonotonicInstant until() {
        return until;
    }

    /**
     * Makes the next try.
     *
     * @param done runs after the listener was notified of a response, on any thread
     * @param failed receives the failure if there was no response, on any thread
     */
    void attempt(Runnable done, Consumer<Throwable> failed) {
        boolean firstTry = tries++ == 0;
        CompletionStage<? extends T> stage;
        try {
            stage = Objects.requireNonNull(cleanup.get(), "the cleanup returned null instead of a stage");
        } catch (Throwable e) { // a backend in another language may throw any exception
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete((response, failure) -> {
            if (failure != null) {
                failed.accept(failure);
            } else if (ended.compareAndSet(false, true)) {
                try {
                    listener.completed(response, firstTry);
                } finally {
                    done.run();
                }
            }
        });
    }

    void retry(LockClock.Timer timer) {
        retry = timer;
        if (ended.get()) {
            timer.cancel();
        }
    }

    void giveUp(Throwable last) {
        if (ended.compareAndSet(false, true)) {
            LockClock.Timer timer = retry;
            if (timer != null) {
                timer.cancel();
            }
            listener.givenUp(last);
        }
    }
}
