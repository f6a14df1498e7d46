// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.listener.AcquireNotifier;
import io.mortise.lock.core.runtime.RandomIds;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Trampoline;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One acquire request, from the application's call until the single outcome of the request.
 *
 * <p>Results of attempts, hints, timers and withdrawals arrive on any thread. Each event is decided under the monitor and acted
 * on outside it, so that no backend is called under the monitor. The first event that ends the operation determines the
 * outcome. The operation stays registered with the client until its last request has completed.
 */
public final class AcquireOperation {
    private final AcquireServices with;
    private final LockName name;
    private final LockOptions options;
    private final Duration leaseDuration;
    private final WaitPolicy waitPolicy;
    private final Consumer<AcquireOutcome> sink;
    private final @Nullable AcquireNotifier observers; // null if nobody observes this acquire

    @GuardedBy("this")
    private final AcquireRetryPolicy retryPolicy;

    @GuardedBy("this")
    private boolean ended;

    @GuardedBy("this")
    private @Nullable CurrentContenderListener contender;

    /** Whether an attempt has no result yet, so that the next call on the contender must wait for it. */
    @GuardedBy("this")
    private boolean attemptPending;

    /** Whether a hint arrived while an attempt was pending. */
    @GuardedBy("this")
    private boolean woken;

    @GuardedBy("this")
    private LockClock.@Nullable Timer retry;

    @GuardedBy("this")
    private LockClock.@Nullable Timer deadline;

    @GuardedBy("this")
    private LockClock.@Nullable Timer selfWait;

    /**
     * Starts an acquire operation.
     *
     * @param maxWait the longest wait; null for no limit, zero for one attempt
     * @param sink receives the outcome once, on any thread, unless the caller withdraws the request first
     */
    public static AcquireOperation start(
            AcquireServices with,
            LockName name,
            LockOptions options,
            @Nullable Duration maxWait,
            Consumer<AcquireOutcome> sink) {
        AcquireOperation operation = new AcquireOperation(with, name, options, maxWait, sink);
        operation.start();
        return operation;
    }

    private AcquireOperation(
            AcquireServices with,
            LockName name,
            LockOptions options,
            @Nullable Duration maxWait,
            Consumer<AcquireOutcome> sink) {
        this.with = with;
        this.name = name;
        this.options = options;
        this.leaseDuration = with.backend().leaseDuration(options.leaseDuration());
        this.waitPolicy = new WaitPolicy(
                with.clock(),
                with.lastResponse(),
                maxWait,
                with.options().requestTimeout(),
                with.options().unavailableAfter().orElse(leaseDuration),
                leaseDuration,
                with.clock().now());
        this.sink = sink;
        this.observers = with.listeners().acquireStarted(name);
        this.retryPolicy = new AcquireRetryPolicy(name, waitPolicy, with.lastResponse(), with.random());
    }

    private void start() {
        if (!with.open().enter(this)) {
            end(closed());
            return;
        }
        if (!waitsInLocalQueue()) {
            attempt();
        } else {
            if (with.queues().join(name, this)) {
                attempt();
            } else {
                notifyWaiting();
            }
            if (hasEnded()) { // a concurrent close() may have run before join(), so that it did not leave the queue
                leaveLocalQueue(false);
            }
        }
        scheduleDeadline();
    }

    /** Returns whether the operation waits in the local queue of this process, because the store has no queue. */
    private boolean waitsInLocalQueue() {
        return waitPolicy.mayWait() && !with.backend().queuesWaiters();
    }

    private synchronized void scheduleDeadline() {
        Duration left = waitPolicy.remaining();
        if (!ended && left != null) {
            deadline = with.clock().schedule(left, () -> end(null));
        }
    }

    /**
     * Makes the first attempt, now that the operation is the first in the local queue.
     *
     * @param storeSilent whether the previous operation in the queue failed because the store does not respond. If this one has
     *     waited long enough too, it fails at once, so that the waiters do not each wait for another outage
     */
    void firstInQueue(boolean storeSilent) {
        if (with.open().isClosing()) {
            return; // closing() ends this operation
        }
        if (storeSilent && waitPolicy.waitedThroughOutage()) {
            String endpoints = with.backend().endpoints();
            BackendUnavailableException silent;
            synchronized (this) {
                silent = retryPolicy.unavailable(endpoints);
            }
            end(new AcquireOutcome.Failed(silent));
        } else {
            attempt();
        }
    }

    /** Handles a hint for one contender. A hint for a contender that was replaced is ignored. */
    void hint(CurrentContenderListener hinted) {
        synchronized (this) {
            if (contender != hinted) {
                return;
            }
        }
        hint();
    }

    /** Makes an attempt now, or as soon as the pending attempt has completed. */
    void hint() {
        synchronized (this) {
            if (attemptPending) {
                woken = true;
                return;
            }
        }
        attempt();
    }

    private void attempt() {
        CurrentContenderListener existing;
        synchronized (this) {
            if (ended || attemptPending) {
                return;
            }
            attemptPending = true;
            woken = false;
            retry = cancel(retry);
            existing = contender;
            retryPolicy.attemptSent(with.clock().now());
        }
        // An exception of the backend, or null instead of a stage, fails this attempt, so that the caller does not wait
        // forever.
        try {
            CurrentContenderListener mine = existing != null ? existing : newContender();
            mine.contender().attempt().whenComplete((result, failure) -> completed(mine, result, failure));
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private CurrentContenderListener newContender() {
        CurrentContenderListener created = new CurrentContenderListener(
                this,
                with.backend(),
                new AttemptRequest(name, RandomIds.attempt(), leaseDuration, waitPolicy.mayWait(), options.metadata()));
        synchronized (this) {
            contender = created;
        }
        return created;
    }

    private void completed(CurrentContenderListener from, @Nullable AttemptResult result, @Nullable Throwable failure) {
        if (waitsInLocalQueue()) {
            with.queues()
                    .recordResult(
                            name,
                            this,
                            result instanceof AttemptResult.Waiting || result instanceof AttemptResult.Granted);
        }
        if (failure != null) {
            failed(failure);
        } else if (result instanceof AttemptResult.Granted granted) {
            granted(from, granted);
        } else if (result instanceof AttemptResult.Waiting waiting) {
            with.lastResponse().received();
            scheduleSelfWaitWarning();
            notifyWaiting();
            proceed(policy -> policy.busy(waiting.retryAfter()), false);
        } else if (result instanceof AttemptResult.Displaced displaced) {
            displaced(displaced.why());
        } else {
            failed(new IllegalStateException("attempt() completed with null"));
        }
    }

    private void granted(CurrentContenderListener from, AttemptResult.Granted granted) {
        with.lastResponse().received();
        HeldLease lease =
                new HeldLease(with.leases(), name, from.contender(), from.attemptId(), granted, options, leaseDuration);
        from.attach(lease);
        boolean usable = !hasEnded() && lease.begin();
        boolean delivered;
        synchronized (this) {
            delivered = usable && !ended;
            if (delivered) {
                attemptPending = false;
                contender = null;
                markEnded();
            }
        }
        if (delivered) {
            if (observers != null) {
                lease.observe(observers);
            }
            try {
                sink.accept(new AcquireOutcome.Leased(lease));
            } finally {
                with.open().leave(this);
                leaveLocalQueue(false);
            }
            return;
        }
        // The grant has ended already: request the lock again by a new contender, and never deliver a lease that is
        // lost. Until
        // then the attempt counts as pending, because the withdrawal may wake this same operation.
        lease.discard();
        displaced("the grant had ended before its reply arrived");
    }

    private void failed(Throwable failure) {
        String endpoints = with.backend().endpoints();
        proceed(policy -> policy.failed(failure, endpoints), false);
    }

    private void displaced(String why) {
        String endpoints = with.backend().endpoints();
        proceed(policy -> policy.displaced(why, endpoints), true);
    }

    /** Passes the result of one attempt to the retry policy, under the monitor. */
    private interface AttemptReport {
        AcquireRetryPolicy.Next report(AcquireRetryPolicy policy);
    }

    /** Continues after an attempt: ends the operation, also if it ended while the attempt was pending, or retries. */
    private void proceed(AttemptReport report, boolean displaced) {
        AcquireRetryPolicy.Next next;
        boolean ends;
        boolean now = false;
        synchronized (this) {
            attemptPending = false;
            if (displaced) {
                contender = null;
                woken = false;
            }
            next = report.report(retryPolicy);
            ends = ended || next.outcome() != null || with.open().isClosing();
            if (!ends) {
                now = woken || next.pause().isZero();
                if (!now) {
                    retry = with.clock().schedule(next.pause(), this::attempt);
                }
            }
        }
        if (ends) {
            end(with.open().isClosing() ? closed() : next.outcome());
        } else if (now) {
            Trampoline.run(this::attempt);
        }
    }

    private synchronized void scheduleSelfWaitWarning() {
        if (!ended && waitPolicy.mayWait() && selfWait == null) {
            selfWait = with.clock()
                    .schedule(leaseDuration, () -> with.leases().holders().warnOfSelfWait(name, attemptId()));
        }
    }

    /**
     * Withdraws the request on behalf of the caller.
     *
     * @return false if the operation already has an outcome, which the sink has received or is about to receive
     */
    public boolean withdraw() {
        return end(new AcquireOutcome.Withdrawn());
    }

    /** Ends the operation because the client closes. */
    void closing() {
        end(closed());
    }

    private AcquireOutcome closed() {
        return new AcquireOutcome.Failed(
                new ClientClosedException("lock \"" + name + "\" was not acquired: the client is closed"));
    }

    /**
     * Ends the operation if it has not ended. If no attempt is pending, also removes the contender from the store; otherwise
     * the end of the attempt calls this method again.
     *
     * @param outcome the outcome; null if the time limit has passed and the retry policy decides
     * @return whether this call ended the operation
     */
    private boolean end(@Nullable AcquireOutcome outcome) {
        CurrentContenderListener orphan = null;
        AcquireOutcome decided = null;
        boolean idle;
        String endpoints = outcome == null ? with.backend().endpoints() : "";
        boolean queueBusy =
                outcome == null && waitsInLocalQueue() && with.queues().lastResultBusy(name);
        synchronized (this) {
            if (!ended) {
                decided = outcome != null ? outcome : retryPolicy.atDeadline(queueBusy, endpoints);
                markEnded();
            }
            idle = !attemptPending;
            if (idle) {
                orphan = contender;
                contender = null;
            }
        }
        if (orphan != null) {
            with.leases().removals().remove(name, orphan.contender(), leaseDuration);
        }
        if (idle) {
            with.open().leave(this);
        }
        if (decided == null) {
            return false;
        }
        notifyEnd(decided);
        try {
            if (!(decided instanceof AcquireOutcome.Withdrawn)) {
                sink.accept(decided);
            }
        } finally {
            leaveLocalQueue(decided instanceof AcquireOutcome.Failed failed
                    && failed.cause() instanceof BackendUnavailableException);
        }
        return true;
    }

    private void notifyWaiting() {
        if (observers != null && waitPolicy.mayWait()) {
            observers.waiting();
        }
    }

    private void notifyEnd(AcquireOutcome outcome) {
        if (observers == null) {
            return;
        }
        if (outcome instanceof AcquireOutcome.Failed failed) {
            observers.failed(failed.cause());
        } else if (outcome instanceof AcquireOutcome.Withdrawn) {
            observers.withdrawn();
        } else {
            observers.busy();
        }
    }

    private void leaveLocalQueue(boolean storeSilent) {
        AcquireOperation first = with.queues().leave(name, this);
        if (first != null) {
            Trampoline.run(() -> first.firstInQueue(storeSilent));
        }
    }

    @GuardedBy("this")
    private void markEnded() {
        ended = true;
        retry = cancel(retry);
        deadline = cancel(deadline);
        selfWait = cancel(selfWait);
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    /** Returns whether the operation still waits for a grant of that contender. */
    synchronized boolean waitsFor(CurrentContenderListener candidate) {
        return !ended && contender == candidate;
    }

    private synchronized String attemptId() {
        return contender == null ? "none" : contender.attemptId();
    }

    private static LockClock.@Nullable Timer cancel(LockClock.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
        return null;
    }
}
