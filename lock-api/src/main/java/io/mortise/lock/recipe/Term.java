// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One period of leadership of one candidate, which lasts as long as its lease at most. Thread-safe. */
public final class Term {
    private final Election election;
    private final Lease lease;
    private final List<Runnable> stopCallbacks = new ArrayList<>();
    private final ReentrantLock state =
            new ReentrantLock(); // no monitor: to interrupt a thread takes a lock (ADR 0040)
    private final Condition callbacksEnded = state.newCondition();
    private volatile @Nullable TermEnd end;
    private volatile boolean interrupted; // the body, by a stop
    private boolean bodyEnded;
    private int callbackThreads; // that run callbacks now, or are about to
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    Term(Election election, Lease lease) {
        this.election = election;
        this.lease = lease;
    }

    /**
     * Returns the number of this term, the fencing token of its lease: greater than that of every earlier term of any candidate
     * (S3). Send it with each write, so that the resource can reject the writes of a former leader.
     *
     * @throws UnsupportedOperationException if the backend has no fencing tokens
     */
    public long epoch() {
        return lease.fencingToken();
    }

    /** Returns the name of the lock on which the election runs. */
    public String lockName() {
        return lease.lockName();
    }

    /**
     * Returns whether this candidate must not act as the leader any more. It compares the clock with the deadline of the lease,
     * so it returns true before the store can grant the lock by expiry, even after a pause of the process (S2). Only a forced release
     * or a loss of data in the store shows later, with the next event or renewal (S1, S7).
     */
    public boolean isOver() {
        return isStopped() || !lease.isHeld();
    }

    /**
     * Throws an exception if the lease of this term is not valid. Call it directly before an effect outside the process.
     *
     * @throws LeaseLostException with the reason of the loss
     */
    public void ensureHeld() {
        lease.ensureHeld();
    }

    /**
     * Registers a callback that runs once when the term is stopped while its body runs. Use it to end a call that ignores
     * interrupts, for example by closing its socket.
     *
     * <p>The callbacks run one after the other on a thread of their own, which the
     * {@linkplain ElectionOptions#threads thread factory} of the election makes. A callback that is registered after the stop runs
     * at once, on the calling thread; one that is registered after the body has ended never runs. The lock is released, and this
     * candidate leads again, only after the callbacks have ended too. So a callback must not wait for the end of the term or of
     * the election.
     */
    public void onStop(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        state.lock();
        try {
            if (bodyEnded) {
                return;
            }
            if (end == null) {
                stopCallbacks.add(callback);
                return;
            }
            callbackThreads++;
        } finally {
            state.unlock();
        }
        runAll(List.of(callback));
    }

    /**
     * Ends this term, and lets other candidates go first. Returns at once; the lock is released after the body has ended. If the
     * lease is lost before, or the election closed, the body is interrupted, also one that has resigned itself.
     */
    public void resign() {
        election.stop(this, TermEnd.RESIGNED);
    }

    /**
     * Stops the body on that thread, unless it was stopped before, or has ended. A body that was stopped may still work under the
     * lock, so a loss interrupts it all the same, and a close does if nothing has yet: the body has only resigned itself.
     */
    void stop(TermEnd reason, Thread thread) {
        // A second stop comes without the lock: the interrupt of a body in blocking I/O may last as long as the I/O.
        List<Runnable> callbacks = isStopped() ? null : firstStop(reason);
        if (callbacks == null) {
            boolean untold = reason == TermEnd.CLOSED && !interrupted && Thread.currentThread() != thread;
            if (reason == TermEnd.LOST || untold) {
                election.startStopThread(() -> interrupt(reason, thread));
            }
            return;
        }
        try {
            interrupt(reason, thread);
            election.watchStop(this, reason);
        } finally {
            // Even if a channel of the application throws at the interrupt: the end of the term waits for them.
            // They may block, and the caller is a callback of the client, or must return at once.
            if (!callbacks.isEmpty()) {
                election.startStopThread(() -> runAll(callbacks));
            }
        }
    }

    /** Returns the callbacks to run, which the term's end awaits; null if the term was stopped before. */
    private @Nullable List<Runnable> firstStop(TermEnd reason) {
        state.lock();
        try {
            if (end != null) {
                return null;
            }
            List<Runnable> callbacks = List.copyOf(stopCallbacks);
            end = reason;
            callbackThreads += callbacks.isEmpty() ? 0 : 1;
            return callbacks;
        } finally {
            state.unlock();
        }
    }

    /** Interrupts the body unless it has ended. One that resigns knows of it; a loss before the body is found on its thread too. */
    private void interrupt(TermEnd reason, Thread thread) {
        state.lock();
        try {
            boolean untold = !interrupted && Thread.currentThread() != thread;
            if (!bodyEnded && (untold || reason == TermEnd.LOST)) {
                interrupted = true;
                thread.interrupt();
            }
        } finally {
            state.unlock();
        }
    }

    /**
     * Ends the term after its body, unless it was stopped before, and waits for the callbacks of the stop. No interrupt of this
     * term follows.
     */
    TermEnd end(TermEnd unlessStopped) {
        TermEnd reason;
        state.lock();
        try {
            bodyEnded = true;
            reason = end != null ? end : lease.isHeld() ? unlessStopped : TermEnd.LOST;
            end = reason;
            while (callbackThreads > 0) {
                callbacksEnded.awaitUninterruptibly();
            }
        } finally {
            state.unlock();
        }
        ended.complete(null);
        return reason;
    }

    boolean isStopped() {
        return end != null;
    }

    /** Returns a new future, which completes when the body and the callbacks of the stop have ended. */
    CompletableFuture<@Nullable Void> ended() {
        return ended.copy();
    }

    private void runAll(List<Runnable> callbacks) {
        try {
            callbacks.forEach(this::run);
        } finally {
            state.lock();
            try {
                callbackThreads--;
                callbacksEnded.signalAll();
            } finally {
                state.unlock();
            }
        }
    }

    private void run(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) { // the remaining callbacks must run
            Election.warn("event=election-stop-callback-failed lock=\"" + LockName.shown(lockName()) + "\"", e);
        }
    }

    @Override
    public String toString() {
        return "Term[" + LockName.shown(lockName()) + ", owner " + lease.ownerId() + "]";
    }
}
