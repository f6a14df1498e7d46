// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.core.acquire.AcquireEvent.Plain;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.listener.AcquireNotifier;
import io.mortise.lock.core.runtime.RandomIds;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.EffectPerformer;
import io.mortise.lock.spi.support.StageFailures;
import io.mortise.lock.spi.support.Trampoline;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One acquire request, from the application's call until the single outcome of the request.
 *
 * <p>Results of attempts, hints, timers and withdrawals arrive on any thread. {@link AcquireState} decides each event under the
 * monitor; the effects are performed outside it, so that no backend is called under the monitor, and a caller that gives up
 * does not wait for one. The operation stays registered with the client until its last request has completed.
 */
public final class AcquireOperation {
    private final AcquireServices with;
    private final LockName name;
    private final LockOptions options;
    private final WaitPolicy waitPolicy;
    private final Consumer<AcquireOutcome> sink;
    private final @Nullable AcquireNotifier observers; // null if nobody observes this acquire

    /** The contender that was enqueued last. The state tells whether it still counts. */
    private volatile @Nullable CurrentContenderListener contender;

    @GuardedBy("this")
    private AcquireState state;

    @GuardedBy("this")
    private @Nullable DueTimer retry;

    @GuardedBy("this")
    private @Nullable DueTimer deadline;

    @GuardedBy("this")
    private @Nullable DueTimer selfWait;

    /** A timer and the instant at which it fires. */
    private record DueTimer(MonotonicInstant at, LockClock.Timer timer) {}

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
        Duration leaseDuration = with.backend().leaseDuration(options.leaseDuration());
        this.waitPolicy = new WaitPolicy(
                maxWait,
                with.options().requestTimeout(),
                with.options().unavailableAfter().orElse(leaseDuration),
                leaseDuration,
                now());
        this.sink = sink;
        this.observers = with.listeners().acquireStarted(name);
        this.state = AcquireState.initial(waitPolicy);
    }

    private void start() {
        boolean open = with.open().enter(this);
        Plain first = waitsInLocalQueue() ? Plain.START_IN_QUEUE : Plain.START;
        accept(open ? first : Plain.CLOSE);
    }

    /** Returns whether the operation waits in the local queue of this process, because the store has no queue. */
    private boolean waitsInLocalQueue() {
        return waitPolicy.mayWait() && !with.backend().queuesWaiters();
    }

    private MonotonicInstant now() {
        return with.clock().now();
    }

    private StoreContact contact() {
        return with.queues().contact(name, with.lastResponse().contact());
    }

    // ---- events

    /**
     * Makes the first attempt, now that the operation is the first in the local queue.
     *
     * @param storeSilent whether the previous operation in the queue failed because the store does not respond. If this one has
     *     waited long enough too, it fails at once, so that the waiters do not each wait for another outage
     */
    void firstInQueue(boolean storeSilent) {
        accept(with.open().isClosing() ? Plain.CLOSE : new AcquireEvent.FirstInQueue(storeSilent, now(), contact()));
    }

    /** Handles a failure of the first operation in the local queue, which this one waits for. */
    private void storeSilent() {
        accept(new AcquireEvent.StoreSilent(now(), contact()));
    }

    /** Handles a hint for one contender. */
    void hint(CurrentContenderListener hinted) {
        accept(new AcquireEvent.Hint(hinted.number(), now()));
    }

    /** Handles a hint from this process, which has released the lock. */
    void lockFreed() {
        accept(new AcquireEvent.LockFreed(now()));
    }

    /**
     * Withdraws the request on behalf of the caller.
     *
     * @return false if the operation already has an outcome, which the sink has received or is about to receive
     */
    public boolean withdraw() {
        return accept(Plain.WITHDRAW).decides();
    }

    /** Ends the operation because the client closes. */
    void closing() {
        accept(Plain.CLOSE);
    }

    private void completed(CurrentContenderListener from, @Nullable AttemptResult result, @Nullable Throwable failure) {
        HeldLease lease = null;
        AcquireState.Step step;
        try {
            if (waitsInLocalQueue()) {
                with.queues()
                        .recordResult(
                                name,
                                this,
                                result instanceof AttemptResult.Waiting || result instanceof AttemptResult.Granted);
            }
            if (failure == null && result instanceof AttemptResult.Granted granted) {
                lease = lease(from, granted);
            }
            step = decideResult(failure == null ? event(result, lease) : failed(failure));
        } catch (Throwable e) { // nobody reads the stage that it would fail, so the caller would wait forever
            // A lease that may have begun must be discarded.
            step = decideResult(lease == null ? failed(e) : new AcquireEvent.GrantEnded(now(), contact(), jitter()));
        }
        performResult(step, lease);
    }

    private HeldLease lease(CurrentContenderListener from, AttemptResult.Granted granted) {
        with.lastResponse().received();
        HeldLease lease = new HeldLease(
                with.leases(), name, from.contender(), from.attemptId(), granted, options, waitPolicy.leaseDuration());
        from.attach(lease);
        return lease;
    }

    /** @param lease the lease of the grant, if the result is one */
    private AcquireEvent event(@Nullable AttemptResult result, @Nullable HeldLease lease) {
        if (lease != null) {
            boolean usable = isOpen() && lease.begin();
            return usable ? Plain.GRANTED : new AcquireEvent.GrantEnded(now(), contact(), jitter());
        }
        if (result instanceof AttemptResult.Waiting waiting) {
            with.lastResponse().received();
            if (waitPolicy.mayWait()) {
                notifyWaiting(); // before the decision, so that no later grant comes first
            }
            return new AcquireEvent.Busy(waiting.retryAfter(), now(), jitter());
        }
        if (result instanceof AttemptResult.Displaced displaced) {
            return new AcquireEvent.Displaced(displaced.why(), now(), contact(), jitter());
        }
        return failed(new IllegalStateException("attempt() completed with null"));
    }

    private AcquireEvent failed(Throwable failure) {
        return new AcquireEvent.Failed(known(failure), now(), contact(), jitter());
    }

    private static LockException known(Throwable failure) {
        Throwable cause = StageFailures.unwrap(failure);
        return cause instanceof LockException lockFailure
                ? lockFailure
                : new BackendRefusedException("the backend failed: " + cause, cause);
    }

    private double jitter() {
        return with.random().nextDouble();
    }

    private void deadlineReached() {
        boolean queueBusy = waitsInLocalQueue() && with.queues().lastResultBusy(name);
        accept(new AcquireEvent.DeadlineReached(queueBusy, now(), contact()));
    }

    // ---- the machine

    private AcquireState.Step accept(AcquireEvent event) {
        AcquireState.Step step = decide(event);
        perform(step, null);
        return step;
    }

    private AcquireState.Step decideResult(AcquireEvent result) {
        if (with.open().isClosing()) {
            accept(Plain.CLOSE); // the client may not have come to this operation yet
        }
        return decide(result);
    }

    /**
     * Performs what the result of an attempt leads to. The next attempt runs on the trampoline: with a backend that completes
     * attempts on the calling thread, each would otherwise add its frames to one stack.
     *
     * @param lease the lease of the grant, if the result is one
     */
    private void performResult(AcquireState.Step step, @Nullable HeldLease lease) {
        if (step.state().phase() instanceof AcquireState.Attempting) {
            Trampoline.run(() -> perform(step, lease));
        } else {
            perform(step, lease);
        }
    }

    private synchronized AcquireState.Step decide(AcquireEvent event) {
        AcquireState.Step step = AcquireState.on(state, event);
        state = step.state();
        return step;
    }

    private void perform(AcquireState.Step step, @Nullable HeldLease lease) {
        try {
            EffectPerformer.performAll(step.effects(), effect -> perform(effect, lease));
        } finally {
            setTimers();
        }
    }

    private void setTimers() {
        try {
            followTimers();
        } catch (Throwable e) { // without its timer the operation might wait forever
            if (!isOpen()) {
                throw e;
            }
            accept(new AcquireEvent.TimerFailed(new BackendRefusedException("no timer could be set: " + e, e)));
        }
    }

    private void perform(AcquireEffect effect, @Nullable HeldLease lease) {
        if (effect instanceof AcquireEffect.Plain plain) {
            perform(plain, lease);
        } else if (effect instanceof AcquireEffect.Attempt attempt) {
            attempt(attempt.contender());
        } else if (effect instanceof AcquireEffect.Remove remove) {
            remove(remove.contender());
        } else if (effect instanceof AcquireEffect.RecordFailure failure) {
            with.lastResponse().failed(failure.sent());
            with.queues().recordFailure(name, this, failure.sent());
            with.queues().behind(name, this).forEach(AcquireOperation::storeSilent);
        } else if (effect instanceof AcquireEffect.End end) {
            end(end);
        }
    }

    private void perform(AcquireEffect.Plain effect, @Nullable HeldLease lease) {
        switch (effect) {
            case JOIN_QUEUE ->
                accept(
                        with.queues().join(name, this)
                                ? new AcquireEvent.JoinedAsFirst(now())
                                : Plain.JOINED_BEHIND_OTHERS);
            case LEAVE_QUEUE -> leaveLocalQueue(false);
            case NOTIFY_WAITING -> notifyWaiting();
            case DELIVER -> deliver(Objects.requireNonNull(lease));
            case DISCARD -> Objects.requireNonNull(lease).discard();
            case LEAVE_CLIENT -> with.open().leave(this);
        }
    }

    private void attempt(int number) {
        if (!isOpen()) { // it has ended since the attempt was decided
            performResult(decideResult(Plain.NOT_SENT), null);
            return;
        }
        // An exception of the backend, or null instead of a stage, fails this attempt, so that the caller does not wait
        // forever.
        try {
            CurrentContenderListener mine = contender(number);
            mine.contender().attempt().whenComplete((result, failure) -> completed(mine, result, failure));
        } catch (Throwable e) { // a backend in another language may throw any exception
            performResult(decideResult(failed(e)), null);
        }
    }

    private CurrentContenderListener contender(int number) {
        CurrentContenderListener present = contender;
        if (present != null && present.number() == number) {
            return present;
        }
        CurrentContenderListener created = new CurrentContenderListener(
                this,
                number,
                with.backend(),
                new AttemptRequest(
                        name,
                        RandomIds.attempt(),
                        waitPolicy.leaseDuration(),
                        waitPolicy.mayWait(),
                        options.metadata()));
        contender = created;
        return created;
    }

    private void remove(int number) {
        CurrentContenderListener present = contender;
        if (present != null && present.number() == number) {
            with.leases().removals().remove(name, present.contender(), waitPolicy.leaseDuration());
        }
    }

    private void deliver(HeldLease lease) {
        if (observers != null) {
            lease.observe(observers);
        }
        try {
            sink.accept(new AcquireOutcome.Leased(lease));
        } finally {
            with.open().leave(this);
            leaveLocalQueue(false);
        }
    }

    private void end(AcquireEffect.End end) {
        AcquireOutcome outcome = outcome(end);
        notifyEnd(outcome);
        try {
            if (!(outcome instanceof AcquireOutcome.Withdrawn)) {
                sink.accept(outcome);
            }
        } finally {
            leaveLocalQueue(outcome instanceof AcquireOutcome.Failed failed
                    && failed.cause() instanceof BackendUnavailableException);
        }
    }

    private AcquireOutcome outcome(AcquireEffect.End end) {
        if (end instanceof AcquireEffect.FailedForGood failure) {
            return new AcquireOutcome.Failed(failure.cause());
        }
        if (end instanceof AcquireEffect.Unavailable unavailable) {
            return new AcquireOutcome.Failed(unavailable(unavailable));
        }
        return switch ((AcquireEffect.PlainEnd) end) {
            case BUSY -> new AcquireOutcome.Busy();
            case WITHDRAWN -> new AcquireOutcome.Withdrawn();
            case CLOSED ->
                new AcquireOutcome.Failed(
                        new ClientClosedException("lock \"" + name + "\" was not acquired: the client is closed"));
        };
    }

    private BackendUnavailableException unavailable(AcquireEffect.Unavailable end) {
        String endpoints = endpoints();
        LockException cause = end.last();
        return new BackendUnavailableException(
                "lock \"" + name + "\" was not acquired: its requests have had no successful response for "
                        + end.silence().toMillis() + " ms (" + endpoints + ")"
                        + (cause == null ? "" : ": " + cause.getMessage()),
                endpoints,
                cause);
    }

    /** Returns the endpoints of the backend; a failure to name them must not keep the outcome from the caller. */
    private String endpoints() {
        try {
            return with.backend().endpoints();
        } catch (Throwable e) { // a backend in another language may throw any exception
            return "unknown (" + e + ")";
        }
    }

    private void notifyWaiting() {
        if (observers != null) {
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

    /** Sets and cancels the timers as the present state wants them. */
    private synchronized void followTimers() {
        boolean open = state.isOpen();
        retry = follow(retry, state.retryAt(), Due.RETRY);
        deadline = follow(deadline, open ? waitPolicy.deadline() : null, Due.DEADLINE);
        selfWait = follow(selfWait, open ? state.selfWaitAt() : null, Due.SELF_WAIT);
    }

    /** The purpose of a timer. */
    private enum Due {
        RETRY,
        DEADLINE,
        SELF_WAIT
    }

    private @Nullable DueTimer follow(@Nullable DueTimer known, @Nullable MonotonicInstant at, Due what) {
        if (known == null ? at == null : known.at.equals(at)) {
            return known;
        }
        if (known != null) {
            known.timer.cancel();
        }
        return at == null
                ? null
                : new DueTimer(at, with.clock().schedule(with.clock().until(at), () -> due(what)));
    }

    private void due(Due what) {
        switch (what) {
            case RETRY -> accept(new AcquireEvent.RetryDue(now()));
            case DEADLINE -> deadlineReached();
            case SELF_WAIT -> {
                if (isOpen()) {
                    with.leases().holders().warnOfSelfWait(name, attemptId());
                }
            }
        }
    }

    private synchronized boolean isOpen() {
        return state.isOpen();
    }

    /** Returns whether the operation still waits for a grant of that contender. */
    synchronized boolean waitsFor(CurrentContenderListener candidate) {
        return state.isOpen() && state.contender() == candidate.number();
    }

    private String attemptId() {
        CurrentContenderListener present = contender;
        return present == null ? "none" : present.attemptId();
    }
}
