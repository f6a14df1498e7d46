// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.runtime.AttemptIds;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Trampoline;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call to acquire one lock, from the call to its single outcome. Events come from any thread: answers, hints, timers, a
 * withdrawal. Each is decided under the monitor and acted on outside it, so that no backend is called with it held; the first
 * one that ends it wins. The client knows it until nothing of it is under way any more.
 */
public final class AcquireOperation {
    private final AcquireCollaborators with;
    private final LockName name;
    private final LockOptions options;
    private final Duration leaseDuration;
    private final WaitPolicy waitPolicy;
    private final Consumer<AcquireOutcome> sink;

    @GuardedBy("this")
    private final AcquireRetryPolicy history;

    @GuardedBy("this")
    private boolean over;

    @GuardedBy("this")
    private @Nullable ActiveContender contender;

    /** A call on the contender is under way; the next waits for it. */
    @GuardedBy("this")
    private boolean asking;

    /** A hint came while asking. */
    @GuardedBy("this")
    private boolean woken;

    @GuardedBy("this")
    private LockClock.@Nullable Timer retry;

    @GuardedBy("this")
    private LockClock.@Nullable Timer deadline;

    @GuardedBy("this")
    private LockClock.@Nullable Timer selfWait;

    /**
     * Starts an acquire.
     *
     * @param maxWait null: until withdrawn; zero: one attempt
     * @param sink told once, on any thread, unless the caller withdraws first
     */
    public static AcquireOperation start(
            AcquireCollaborators with,
            LockName name,
            LockOptions options,
            @Nullable Duration maxWait,
            Consumer<AcquireOutcome> sink) {
        AcquireOperation operation = new AcquireOperation(with, name, options, maxWait, sink);
        operation.start();
        return operation;
    }

    private AcquireOperation(
            AcquireCollaborators with,
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
        this.history = new AcquireRetryPolicy(name, waitPolicy, with.lastResponse(), with.random());
    }

    private void start() {
        if (!with.open().enter(this)) {
            end(closed());
            return;
        }
        if (!waitsInLocalQueue()) {
            ask();
        } else {
            if (with.queues().join(name, this)) {
                ask();
            }
            if (hasEnded()) { // a close between the two: nobody else takes it out of the queue
                leaveLocalQueue(false);
            }
        }
        armDeadline();
    }

    /** Whether it waits in the queue of this process, since the store keeps none. */
    private boolean waitsInLocalQueue() {
        return waitPolicy.mayWait() && !with.backend().queuesWaiters();
    }

    private synchronized void armDeadline() {
        Duration left = waitPolicy.left();
        if (!over && left != null) {
            deadline = with.clock().schedule(left, () -> end(null));
        }
    }

    /**
     * First in the local queue: may ask now.
     *
     * @param storeSilent the one before gave up because the store does not answer: not to be waited for once more by each
     */
    void firstInQueue(boolean storeSilent) {
        if (with.open().isClosing()) {
            return; // closing() comes to each
        }
        if (storeSilent && waitPolicy.storeGoneForTheOneBefore()) {
            String endpoints = with.backend().endpoints();
            BackendUnavailableException silent;
            synchronized (this) {
                silent = history.unavailable(endpoints);
            }
            end(new AcquireOutcome.Failed(silent));
        } else {
            ask();
        }
    }

    /** A hint for one contender; one that was replaced is ignored. */
    void hint(ActiveContender hinted) {
        synchronized (this) {
            if (contender != hinted) {
                return;
            }
        }
        hint();
    }

    /** Asks now, or right after the answer that is under way. */
    void hint() {
        synchronized (this) {
            if (asking) {
                woken = true;
                return;
            }
        }
        ask();
    }

    private void ask() {
        ActiveContender asked;
        synchronized (this) {
            if (over || asking) {
                return;
            }
            asking = true;
            woken = false;
            retry = cancel(retry);
            asked = contender;
            history.asking(with.clock().now());
        }
        // Whatever a backend throws or forgets to answer becomes a failure of this attempt: nobody may be left waiting.
        try {
            ActiveContender mine = asked != null ? asked : newContender();
            mine.contender().attempt().whenComplete((attempt, failure) -> answered(mine, attempt, failure));
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private ActiveContender newContender() {
        ActiveContender made = new ActiveContender(
                this,
                with.backend(),
                new AttemptRequest(
                        name, AttemptIds.attempt(), leaseDuration, waitPolicy.mayWait(), options.metadata()));
        synchronized (this) {
            contender = made;
        }
        return made;
    }

    private void answered(ActiveContender from, @Nullable AttemptResult attempt, @Nullable Throwable failure) {
        if (waitsInLocalQueue()) {
            with.queues()
                    .heard(
                            name,
                            this,
                            attempt instanceof AttemptResult.Waiting || attempt instanceof AttemptResult.Granted);
        }
        if (failure != null) {
            failed(failure);
        } else if (attempt instanceof AttemptResult.Granted granted) {
            granted(from, granted);
        } else if (attempt instanceof AttemptResult.Waiting waiting) {
            with.lastResponse().received();
            watchSelfWait();
            proceed(history -> history.busy(waiting.retryAfter()), false);
        } else if (attempt instanceof AttemptResult.Displaced displaced) {
            displaced(displaced.why());
        } else {
            failed(new IllegalStateException("it answered null to an attempt"));
        }
    }

    private void granted(ActiveContender from, AttemptResult.Granted granted) {
        with.lastResponse().received();
        HeldLease lease =
                new HeldLease(with.leases(), name, from.contender(), from.attemptId(), granted, options, leaseDuration);
        from.attach(lease);
        boolean usable = !hasEnded() && lease.begin();
        boolean delivered;
        synchronized (this) {
            delivered = usable && !over;
            if (delivered) {
                asking = false;
                contender = null;
                close();
            }
        }
        if (delivered) {
            try {
                sink.accept(new AcquireOutcome.Leased(lease));
            } finally {
                with.open().leave(this);
                leaveLocalQueue(false);
            }
            return;
        }
        // Gone before it could be collected: a new contender, never a lease that is lost already. It counts as asking
        // until
        // then, for the withdrawal may wake this very waiter.
        lease.discard();
        displaced("the grant had ended when its answer arrived");
    }

    private void failed(Throwable failure) {
        String endpoints = with.backend().endpoints();
        proceed(history -> history.failed(failure, endpoints), false);
    }

    private void displaced(String why) {
        String endpoints = with.backend().endpoints();
        proceed(history -> history.displaced(why, endpoints), true);
    }

    /** Reports one answer to the history, under the monitor. */
    private interface Answer {
        AcquireRetryPolicy.Next tell(AcquireRetryPolicy history);
    }

    /** After an answer: ends it, also where it ended while the answer was under way, or asks again. */
    private void proceed(Answer answer, boolean displaced) {
        AcquireRetryPolicy.Next next;
        boolean ends;
        boolean now = false;
        synchronized (this) {
            asking = false;
            if (displaced) {
                contender = null;
                woken = false;
            }
            next = answer.tell(history);
            ends = over || next.outcome() != null || with.open().isClosing();
            if (!ends) {
                now = woken || next.pause().isZero();
                if (!now) {
                    retry = with.clock().schedule(next.pause(), this::ask);
                }
            }
        }
        if (ends) {
            end(with.open().isClosing() ? closed() : next.outcome());
        } else if (now) {
            Trampoline.run(this::ask);
        }
    }

    private synchronized void watchSelfWait() {
        if (!over && waitPolicy.mayWait() && selfWait == null) {
            selfWait = with.clock()
                    .schedule(leaseDuration, () -> with.leases().holders().warnOfSelfWait(name, attemptId()));
        }
    }

    /** The caller no longer wants it. False if there is an outcome already, which the sink has been or is being told. */
    public boolean withdraw() {
        return end(new AcquireOutcome.Withdrawn());
    }

    /** The client closes. */
    void closing() {
        end(closed());
    }

    private AcquireOutcome closed() {
        return new AcquireOutcome.Failed(
                new ClientClosedException("lock \"" + name + "\" was not acquired: the client is closed"));
    }

    /**
     * Ends it if it has not ended; in both cases what the contender may have left is withdrawn, after its last attempt.
     *
     * @param outcome null: the deadline decides
     */
    private boolean end(@Nullable AcquireOutcome outcome) {
        ActiveContender left = null;
        AcquireOutcome told = null;
        boolean quiet;
        String endpoints = outcome == null ? with.backend().endpoints() : "";
        boolean behindTaken =
                outcome == null && waitsInLocalQueue() && with.queues().taken(name);
        synchronized (this) {
            if (!over) {
                told = outcome != null ? outcome : history.atDeadline(behindTaken, endpoints);
                close();
            }
            quiet = !asking;
            if (quiet) {
                left = contender;
                contender = null;
            }
        }
        if (left != null) {
            with.leases().removals().remove(name, left.contender(), leaseDuration);
        }
        if (quiet) {
            with.open().leave(this);
        }
        if (told == null) {
            return false;
        }
        try {
            if (!(told instanceof AcquireOutcome.Withdrawn)) {
                sink.accept(told);
            }
        } finally {
            leaveLocalQueue(told instanceof AcquireOutcome.Failed failed
                    && failed.cause() instanceof BackendUnavailableException);
        }
        return true;
    }

    private void leaveLocalQueue(boolean storeSilent) {
        AcquireOperation first = with.queues().leave(name, this);
        if (first != null) {
            Trampoline.run(() -> first.firstInQueue(storeSilent));
        }
    }

    @GuardedBy("this")
    private void close() {
        over = true;
        retry = cancel(retry);
        deadline = cancel(deadline);
        selfWait = cancel(selfWait);
    }

    private synchronized boolean hasEnded() {
        return over;
    }

    /** Whether a grant of that contender would still be of use. */
    synchronized boolean wants(ActiveContender asked) {
        return !over && contender == asked;
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
