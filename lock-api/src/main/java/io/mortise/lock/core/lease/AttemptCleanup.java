// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Cleanup of one attempt with an unknown outcome, repeated until the store answers or the lease has ended (S8). */
public final class AttemptCleanup<T> {
    private final String what;
    private final Supplier<? extends CompletionStage<? extends T>> cleanup;
    private final MonotonicTime until;
    private final Listener<? super T> listener;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile LockClock.@Nullable Timer retry;
    private int tries; // they never overlap

    /** What becomes of it. Called once, on any thread. */
    public interface Listener<T> {
        /** The store answered. */
        default void answered(T answer, boolean firstTry) {}

        /** Its time has passed, or the client's. */
        default void givenUp(Throwable last) {}
    }

    public AttemptCleanup(
            String what,
            Supplier<? extends CompletionStage<? extends T>> cleanup,
            MonotonicTime until,
            Listener<? super T> listener) {
        this.what = what;
        this.cleanup = cleanup;
        this.until = until;
        this.listener = listener;
    }

    /** What is left behind if it fails, for the log. */
    String what() {
        return what;
    }

    MonotonicTime until() {
        return until;
    }

    /** The next try. {@code done} runs when its listener has been told, {@code failed} if it had no answer; on any thread. */
    void attempt(Runnable done, Consumer<Throwable> failed) {
        boolean firstTry = tries++ == 0;
        CompletionStage<? extends T> stage;
        try {
            stage = Objects.requireNonNull(cleanup.get(), "it answered no stage");
        } catch (RuntimeException | Error e) {
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete((answer, failure) -> {
            if (failure != null) {
                failed.accept(failure);
            } else if (over.compareAndSet(false, true)) {
                try {
                    listener.answered(answer, firstTry);
                } finally {
                    done.run();
                }
            }
        });
    }

    void retry(LockClock.Timer timer) {
        retry = timer;
        if (over.get()) {
            timer.cancel();
        }
    }

    void giveUp(Throwable last) {
        if (over.compareAndSet(false, true)) {
            LockClock.Timer timer = retry;
            if (timer != null) {
                timer.cancel();
            }
            listener.givenUp(last);
        }
    }
}
