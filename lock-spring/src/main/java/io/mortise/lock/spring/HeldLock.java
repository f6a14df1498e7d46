// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * A lock that a thread holds while a {@link Locked} method or a body of {@link LockTemplate} runs, and then until a surrounding
 * transaction has completed.
 */
final class HeldLock {
    /** The code that runs while the lock is held. */
    @FunctionalInterface
    interface Body<T extends @Nullable Object, X extends Throwable> {
        T call(Lease lease) throws X;
    }

    /** Whether spring-tx is present. */
    static final boolean TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            HeldLock.class.getClassLoader());

    /** The locks of a thread, innermost first. Concurrent, because a transaction may complete on another thread. */
    static final ThreadLocal<@Nullable Deque<HeldLock>> OF_THREAD = new ThreadLocal<>();

    private final LockClient client;
    private final Lease lease;
    private final Deque<HeldLock> thread;
    private boolean running = true;
    private boolean untilCompletion;
    private volatile CompletableFuture<?> work = CompletableFuture.completedFuture(null);

    private HeldLock(LockClient client, Lease lease, Deque<HeldLock> thread) {
        this.client = client;
        this.lease = lease;
        this.thread = thread;
    }

    /**
     * Acquires the lock for the calling thread. If the thread already holds it for its transaction, without a method that runs, the
     * same lease is used again: it cannot be released before the transaction has completed.
     *
     * @return null if another owner held the lock until the end of the wait
     * @throws IllegalStateException if a method that is running on this thread holds the lock, so that the wait would be in vain
     */
    static @Nullable HeldLock acquire(LockClient client, DistributedLock lock, Duration maxWait) {
        HeldLock own = ofThread(client, lock.name());
        if (own != null) {
            own.lease.ensureHeld();
            own.running = true;
            own.moveToFront();
            return own;
        }
        Optional<Lease> lease;
        try {
            lease = lock.tryAcquire(maxWait);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockInterruptedException(lock.name(), e);
        }
        return lease.isEmpty() ? null : begin(client, lease.get());
    }

    /** Releases the lease if that fails, also for lack of memory: nobody else would, and the client renews it. */
    private static HeldLock begin(LockClient client, Lease lease) {
        HeldLock held = null;
        try {
            held = new HeldLock(client, lease, locksOfThread());
            held.thread.addFirst(held);
            held.untilCompletion = TRANSACTIONS && TransactionLeases.register(held);
            return held;
        } catch (Throwable e) {
            if (held != null) {
                held.remove();
            }
            lease.close();
            throw e;
        }
    }

    private static Deque<HeldLock> locksOfThread() {
        Deque<HeldLock> thread = OF_THREAD.get();
        if (thread == null) {
            thread = new ConcurrentLinkedDeque<>();
            OF_THREAD.set(thread);
        }
        return thread;
    }

    private static @Nullable HeldLock ofThread(LockClient client, String name) {
        Deque<HeldLock> thread = OF_THREAD.get();
        if (thread == null) {
            return null;
        }
        for (HeldLock held : thread) {
            if (held.client == client && held.lease.lockName().equals(name) && held.work.isDone()) {
                if (held.running) {
                    throw new IllegalStateException(
                            "lock \"" + LockName.shown(name) + "\" is held by a method that is running on this thread: "
                                    + "locks are not reentrant, pass the lease along (S4)");
                }
                return held;
            }
        }
        return null;
    }

    /** Returns the lease of the innermost method that is running on this thread, and has the lock of this name if one is given. */
    static Optional<Lease> current(@Nullable String name) {
        Deque<HeldLock> thread = OF_THREAD.get();
        if (thread != null) {
            for (HeldLock held : thread) {
                if (held.running && (name == null || held.lease.lockName().equals(name))) {
                    return Optional.of(held.lease);
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Throws a {@link LeaseLostException} if this thread has lost a lease, of a method that is running, or of one whose lock is held
     * until a transaction completes. That need not be the current transaction, which may have used the lease all the same.
     */
    static void ensureAllHeld() {
        Deque<HeldLock> thread = OF_THREAD.get();
        if (thread != null) {
            thread.forEach(held -> held.lease.ensureHeld());
        }
    }

    Lease lease() {
        return lease;
    }

    /** Runs the body, then releases the lock, or leaves that to the transaction. */
    <T extends @Nullable Object, X extends Throwable> T call(Body<T, X> body) throws X {
        return ended(run(body));
    }

    /**
     * Runs a body whose result may be a stage although its type does not say so. Then the lock is held until the stage completes.
     *
     * @param type the type of the result
     * @param description the method, for messages
     * @throws IllegalStateException if the work of the result ends later, and its end cannot be observed
     */
    <X extends Throwable> @Nullable Object callAny(Body<@Nullable Object, X> body, Class<?> type, String description)
            throws X {
        Object result = this.<@Nullable Object, X>run(lease -> {
            Object value = body.call(lease);
            return value instanceof CompletionStage<?> stage && type.isAssignableFrom(CompletableFuture.class)
                    ? followed(stage)
                    : ReturnKind.refuseLate(
                            value, description, "declare CompletableFuture, Mono or Flux as the type of the result");
        });
        return result instanceof Followed<?> stage ? until(stage) : ended(result);
    }

    /** Runs the body, and releases the lock when its stage has completed and the transaction, if any, too. */
    <T extends @Nullable Object, X extends Throwable> CompletableFuture<T> callStage(
            Body<? extends CompletionStage<T>, X> body) throws X {
        return until(this.<Followed<T>, X>run(lease -> followed(body.call(lease))));
    }

    /** A future of this class, to which dependents can be added without a failure. */
    private static final class Followed<T extends @Nullable Object> extends CompletableFuture<T> {}

    /** Returns a future that completes as the stage, which may be of a class of the application, and throw here. */
    private static <T extends @Nullable Object> Followed<T> followed(CompletionStage<T> stage) {
        Followed<T> future = new Followed<>();
        stage.whenComplete((value, failure) -> complete(future, value, failure, null));
        return future;
    }

    private <T extends @Nullable Object, X extends Throwable> T run(Body<T, X> body) throws X {
        try {
            return body.call(lease);
        } catch (Throwable e) {
            suppress(e, end());
            throw e;
        }
    }

    private <T extends @Nullable Object> T ended(T result) {
        LeaseLostException loss = end();
        if (loss != null) {
            throw loss;
        }
        return result;
    }

    /** Ends the method, but not the use of the lock, which goes on until the stage completes. */
    private <T extends @Nullable Object> CompletableFuture<T> until(Followed<T> stage) {
        CompletableFuture<T> result = new CompletableFuture<>();
        running = false;
        if (untilCompletion) {
            CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
            work = done; // completes after the loss is read: the release that follows would look like one
            stage.whenComplete((value, failure) -> {
                LeaseLostException loss = loss(lease);
                done.complete(null);
                complete(result, value, failure, loss);
            });
        } else {
            remove();
            stage.whenComplete((value, failure) -> lease.releaseAsync()
                    .thenAccept(outcome -> complete(result, value, failure, lossOf(lease, outcome))));
        }
        return result;
    }

    /** Ends the method: returns the loss of the lease, if there was one. */
    private @Nullable LeaseLostException end() {
        running = false;
        if (untilCompletion) {
            return loss(lease);
        }
        remove();
        return lossOf(lease, release(lease));
    }

    /** Releases the lease as {@link Lease#release} does, but an interrupt does not hide the outcome; the interrupt flag is kept. */
    private static ReleaseOutcome release(Lease lease) {
        boolean interrupted = Thread.interrupted();
        ReleaseOutcome outcome = lease.release();
        while (Thread.interrupted()) { // it may have ended the wait
            interrupted = true;
            outcome = lease.release();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return outcome;
    }

    /** Releases the lock, when a stage that was returned inside the transaction has completed too. */
    void releaseAfterCompletion() {
        remove();
        if (work.isDone()) {
            release(lease);
            lease.close(); // logs the outcome
        } else {
            work.whenComplete((value, failure) -> lease.releaseAsync());
        }
    }

    private void moveToFront() {
        thread.remove(this);
        thread.addFirst(this);
    }

    private void remove() {
        thread.remove(this);
        if (thread.isEmpty() && OF_THREAD.get() == thread) {
            OF_THREAD.remove();
        }
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> result, T value, @Nullable Throwable failure, @Nullable LeaseLostException loss) {
        if (failure != null) {
            // A dependent stage fails with a wrapper, which CompletableFuture.get() drops, with what it has suppressed.
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            suppress(cause, loss);
            result.completeExceptionally(cause);
        } else if (loss != null) {
            result.completeExceptionally(loss);
        } else {
            result.complete(value);
        }
    }

    /** Adds the loss to a failure that does not report it already. */
    static void suppress(Throwable failure, @Nullable LeaseLostException loss) {
        boolean reported = loss != null
                && failure instanceof LeaseLostException other
                && other.lockName().equals(loss.lockName());
        if (loss != null && !reported) {
            failure.addSuppressed(loss);
        }
    }

    static @Nullable LeaseLostException lossOf(Lease lease, ReleaseOutcome outcome) {
        return outcome == ReleaseOutcome.LOST ? loss(lease) : null;
    }

    static @Nullable LeaseLostException loss(Lease lease) {
        try {
            lease.ensureHeld();
            return null;
        } catch (LeaseLostException e) {
            return e;
        }
    }
}
