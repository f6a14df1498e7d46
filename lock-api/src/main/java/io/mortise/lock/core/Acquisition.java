// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One caller's wish for one lock, from the call to its single outcome. Events come from any thread: answers, hints, timers,
 * a withdrawal. Each is decided under the monitor and acted on outside it; the first one that ends it wins.
 */
final class Acquisition {
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final CoreClient client;
    private final LockName name;
    private final LockOptions options;
    private final Duration leaseDuration;
    private final @Nullable Duration maxWait;
    private final Consumer<Outcome> sink;
    private final long started;
    private final Backoff backoff;

    @GuardedBy("this")
    private boolean over;

    @GuardedBy("this")
    private @Nullable Place place;

    /** A call on the ticket is under way; the next waits for it. */
    @GuardedBy("this")
    private boolean asking;

    /** A hint came while asking. */
    @GuardedBy("this")
    private boolean woken;

    /** The latest answer was "busy"; standing behind another waiter of this process is one too. */
    @GuardedBy("this")
    private boolean busy;

    @GuardedBy("this")
    private @Nullable LockException trouble;

    @GuardedBy("this")
    private boolean displaced;

    @GuardedBy("this")
    private LockClock.@Nullable Timer retry;

    @GuardedBy("this")
    private LockClock.@Nullable Timer deadline;

    @GuardedBy("this")
    private LockClock.@Nullable Timer selfWait;

    /**
     * @param maxWait null: until withdrawn; zero: one attempt
     * @param sink told once, on any thread, unless the caller withdraws first
     */
    Acquisition(
            CoreClient client, LockName name, LockOptions options, @Nullable Duration maxWait, Consumer<Outcome> sink) {
        this.client = client;
        this.name = name;
        this.options = options;
        this.leaseDuration = client.leaseDuration(options);
        this.maxWait = maxWait;
        this.sink = sink;
        this.started = client.clock.nanoTime();
        this.backoff = new Backoff(FIRST_RETRY, LONGEST_RETRY, client.random);
    }

    void start() {
        if (!client.enter(this)) {
            end(new Outcome.Failed(closed()));
            return;
        }
        if (mayWait() && !client.queuesWaiters()) {
            synchronized (this) {
                busy = true;
            }
            if (client.queues.join(name, this)) {
                ask();
            }
        } else {
            ask();
        }
        armDeadline();
    }

    private boolean mayWait() {
        return maxWait == null || !maxWait.isZero();
    }

    private synchronized void armDeadline() {
        if (over || maxWait == null) {
            return;
        }
        Duration bound = mayWait() ? maxWait : client.options.requestTimeout();
        Duration left = bound.minusNanos(client.clock.nanoTime() - started);
        deadline = client.clock.schedule(left, () -> end(null));
    }

    /**
     * First in the local line: may ask now.
     *
     * @param storeSilent the one before gave up because the store does not answer: not to be waited for once more by each
     */
    void turn(boolean storeSilent) {
        if (storeSilent && maxWait == null && outage().compareTo(unavailableAfter()) >= 0) {
            BackendUnavailableException silent;
            synchronized (this) {
                silent = unavailable();
            }
            end(new Outcome.Failed(silent));
        } else {
            ask();
        }
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
        Ticket ticket;
        synchronized (this) {
            if (over || asking) {
                return;
            }
            if (place == null) {
                place = new Place();
            }
            asking = true;
            client.settlements
                    .attemptSent(); // under the monitor: a client that closes either sees it or keeps it from being
            // sent
            woken = false;
            retry = cancel(retry);
            ticket = place.ticket;
        }
        CompletionStage<Attempt> stage;
        try {
            stage = ticket.attempt();
        } catch (RuntimeException e) {
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete((attempt, failure) -> {
            try {
                answered(attempt, failure);
            } finally {
                client.settlements.attemptAnswered();
            }
        });
    }

    private void answered(@Nullable Attempt attempt, @Nullable Throwable failure) {
        if (failure != null) {
            failed(failure);
        } else if (attempt instanceof Attempt.Granted granted) {
            granted(granted);
        } else if (attempt instanceof Attempt.Waiting waiting) {
            waiting(waiting);
        } else if (attempt instanceof Attempt.Displaced gone) {
            displaced(gone.why());
        }
    }

    private void granted(Attempt.Granted granted) {
        client.contact.made();
        Place mine;
        HeldLease held = null;
        synchronized (this) {
            asking = false;
            mine = Objects.requireNonNull(place);
            if (!over) {
                place = null;
                if (mine.lost == null) {
                    HeldLease candidate =
                            new HeldLease(client, name, mine.ticket, mine.attemptId, granted, options, leaseDuration);
                    if (candidate.begin()) {
                        held = candidate;
                        mine.held = candidate;
                        close();
                    }
                }
            }
        }
        if (held != null) {
            client.leave(this);
            client.queues.leave(name, this, false);
            sink.accept(new Outcome.Leased(held));
            return;
        }
        client.withdraw(name, mine.ticket, leaseDuration);
        if (client.isClosing()) {
            end(new Outcome.Failed(closed()));
            return;
        }
        // Gone before it could be collected: a new place, never a lease that is lost already.
        displaced("the grant was over when its answer arrived");
    }

    private void waiting(Attempt.Waiting waiting) {
        client.contact.made();
        boolean again;
        synchronized (this) {
            asking = false;
            busy = true;
            displaced = false;
            backoff.reset();
            again = woken;
            if (!over && mayWait() && !again) {
                retry = client.clock.schedule(Backoff.jittered(waiting.retryAfter(), client.random), this::ask);
            }
            if (!over && mayWait() && selfWait == null) {
                selfWait = client.clock.schedule(leaseDuration, () -> client.holders.warnOfSelfWait(name, attemptId()));
            }
        }
        if (!mayWait() || isOver()) {
            end(new Outcome.Busy());
        } else if (again) {
            ask();
        }
    }

    private void displaced(String why) {
        boolean now;
        synchronized (this) {
            asking = false;
            place = null;
            trouble = new BackendUnavailableException(why);
            now = !displaced && !over;
            if (displaced && !over) {
                retry = client.clock.schedule(backoff.next(), this::ask); // twice in a row: not in a tight loop
            }
            displaced = true;
        }
        if (now) {
            ask();
        }
    }

    private void failed(Throwable failure) {
        LockException cause = asLockException(failure);
        boolean again = false;
        Outcome outcome = null;
        synchronized (this) {
            asking = false;
            busy = false;
            trouble = cause;
            if (!(cause instanceof BackendUnavailableException) || !mayWait()) {
                outcome = new Outcome.Failed(cause);
            } else if (maxWait == null && outage().compareTo(unavailableAfter()) >= 0) {
                outcome = new Outcome.Failed(unavailable());
            } else if (!over) {
                again = woken;
                if (!again) {
                    retry = client.clock.schedule(nextRetry(), this::ask);
                }
            }
        }
        if (outcome != null || isOver()) {
            end(outcome);
        } else if (again) {
            ask();
        }
    }

    @GuardedBy("this")
    private Duration nextRetry() {
        Duration pause = backoff.next();
        Duration left = unavailableAfter().minus(outage());
        return maxWait == null && left.compareTo(pause) < 0 ? left : pause;
    }

    private Duration unavailableAfter() {
        return client.options.unavailableAfter().orElse(leaseDuration);
    }

    /** Without contact for so long, as far as this acquisition has seen it. */
    private Duration outage() {
        Duration waited = Duration.ofNanos(client.clock.nanoTime() - started);
        Duration silent = client.contact.since();
        return waited.compareTo(silent) < 0 ? waited : silent;
    }

    /** How old the last contact may be for "busy" to be believed (S15). */
    private Duration freshness() {
        Duration request = client.options.requestTimeout();
        Duration renewal = leaseDuration.dividedBy(3);
        return request.compareTo(renewal) > 0 ? request : renewal;
    }

    /** The caller no longer wants it. False if there is an outcome already, which the sink has been or is being told. */
    boolean withdraw() {
        return end(new Outcome.Withdrawn());
    }

    /** The client closes. */
    void closing() {
        end(new Outcome.Failed(closed()));
    }

    private ClientClosedException closed() {
        return new ClientClosedException("lock \"" + name + "\" was not acquired: the client is closed");
    }

    /**
     * Ends it if it has not ended; in both cases what the ticket may have left is withdrawn, after its last attempt.
     *
     * @param outcome null: the deadline decides
     */
    private boolean end(@Nullable Outcome outcome) {
        Place left = null;
        Outcome told = null;
        synchronized (this) {
            if (!over) {
                told = outcome != null ? outcome : atDeadline();
                close();
            }
            if (!asking) {
                left = place;
                place = null;
            }
        }
        if (left != null) {
            client.withdraw(name, left.ticket, leaseDuration);
        }
        if (told == null) {
            return false;
        }
        client.leave(this);
        client.queues.leave(
                name, this, told instanceof Outcome.Failed f && f.cause() instanceof BackendUnavailableException);
        if (!(told instanceof Outcome.Withdrawn)) {
            sink.accept(told);
        }
        return true;
    }

    @GuardedBy("this")
    private Outcome atDeadline() {
        return busy && client.contact.within(freshness()) ? new Outcome.Busy() : new Outcome.Failed(unavailable());
    }

    @GuardedBy("this")
    private BackendUnavailableException unavailable() {
        LockException cause = trouble;
        return new BackendUnavailableException(
                "lock \"" + name + "\" was not acquired: the store has not answered for "
                        + client.contact.since().toMillis() + " ms"
                        + (cause == null ? " (" + client.backend().endpoints() + ")" : ": " + cause.getMessage()),
                cause);
    }

    @GuardedBy("this")
    private void close() {
        over = true;
        retry = cancel(retry);
        deadline = cancel(deadline);
        selfWait = cancel(selfWait);
    }

    private synchronized boolean isOver() {
        return over;
    }

    private synchronized String attemptId() {
        return place == null ? "none" : place.attemptId;
    }

    private static LockClock.@Nullable Timer cancel(LockClock.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
        return null;
    }

    private static LockException asLockException(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof LockException known
                ? known
                : new BackendRefusedException("the backend failed: " + cause, cause);
    }

    /** One ticket and what the backend says about it. A new one when the place in the queue is gone. */
    private final class Place implements Waiter {
        private final String attemptId = Ids.attempt();
        private final Ticket ticket = client.backend()
                .enqueue(new Request(name, attemptId, leaseDuration, mayWait(), options.metadata()), this);
        private @Nullable LossReason lost;
        private @Nullable HeldLease held;

        @Override
        public void wake() {
            synchronized (Acquisition.this) {
                if (place != this) {
                    return;
                }
            }
            hint();
        }

        @Override
        public void lost(LossReason reason) {
            HeldLease told;
            synchronized (Acquisition.this) {
                lost = reason;
                told = held;
            }
            if (told != null) {
                told.lost(reason);
            }
        }
    }
}
