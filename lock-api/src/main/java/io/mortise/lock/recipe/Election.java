// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.internal.ElectionReporter;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Backoff;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A candidate in the election of a leader on one lock: it waits for the lock, runs the body for a {@link Term}, and waits again.
 *
 * <p>The body is stopped at the deadline of the lease at the latest, so before the store can grant the lock by expiry; after a
 * forced release with the next event or renewal, when another candidate may lead already (S1, S7). One thread waits
 * and runs the body, so a second body never runs beside one that ignores its stop. The lock is released only after the body and
 * the callbacks of its stop have ended. After a body that returns, resigns or throws, the candidate pauses, so that others can
 * go first, and continues. Only {@link #close()}, or that of the client, ends the campaign. Thread-safe.
 */
public final class Election implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);

    private final DistributedLock lock;
    private final String shown;
    private final ElectionOptions options;
    private final TermBody body;
    private final Thread thread;
    private final Backoff failurePauses; // used by that thread only
    private final Optional<ElectionReporter> reporter;
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final ReentrantLock state =
            new ReentrantLock(); // no monitor: to interrupt a thread takes a lock (ADR 0040)
    private @Nullable Term term;
    private boolean acquiring; // only then, and in a term, is the thread interrupted

    Election(DistributedLock lock, ElectionOptions options, TermBody body) {
        this.lock = lock;
        this.shown = LockName.shown(lock.name());
        this.options = options;
        this.body = body;
        this.thread = Objects.requireNonNull(
                options.threads().newThread(this::campaign), "the thread factory returned no thread");
        thread.setName("election-" + shown);
        this.failurePauses = options.failurePauses();
        this.reporter = lock instanceof ElectionReporter known ? Optional.of(known) : Optional.empty();
    }

    /** Returns default options for an election on this lock; {@link ElectionOptions#run} starts it. */
    public static ElectionOptions on(DistributedLock lock) {
        return ElectionOptions.defaults(lock);
    }

    Election start() {
        thread.start();
        return this;
    }

    /** Returns whether this candidate leads now. */
    public boolean isLeading() {
        Term current = current();
        return current != null && !current.isOver();
    }

    /**
     * Returns whether the campaign continues: false after {@link #close()}, and when the next wait for the lock finds the client
     * closed, after the current body or pause.
     */
    public boolean isRunning() {
        return closed.getCount() > 0;
    }

    /**
     * Returns the leader, with its host, process and metadata, as the store shows it now.
     *
     * @return a new future; empty if nobody leads, or if the backend does not support administration
     */
    public CompletableFuture<Optional<LockHolder>> leader() {
        CompletableFuture<LockStatus> status;
        try {
            status = lock.status();
        } catch (UnsupportedOperationException e) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return status.thenApply(seen -> seen.holders().stream().findFirst());
    }

    /** Ends the current term as {@link Term#resign()} does; does nothing if this candidate does not lead. */
    public void resign() {
        Term current = current();
        if (current != null) {
            stop(current, TermEnd.RESIGNED);
        }
    }

    /**
     * Ends the campaign: stops the body, and waits for its end, that of the callbacks of the stop, and the release, at most for
     * the {@linkplain ElectionOptions#stopTimeout stop timeout}. Idempotent. A call by the body does not wait. A body that
     * continues keeps the lock until it ends or the lease is lost, and the log says so. An interrupt ends the wait; the interrupt
     * flag is kept.
     */
    @Override
    public void close() {
        CompletableFuture<@Nullable Void> end = closeAsync();
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            end.get(options.stopTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException e) {
            return; // the body continues, and a warning names its thread
        }
    }

    /**
     * Ends the campaign as {@link #close()} does, without blocking.
     *
     * @return a new future, which never fails; it completes when the body has ended and the lock is released, on the thread of
     *     the election. To cancel it changes nothing
     */
    public CompletableFuture<@Nullable Void> closeAsync() {
        Term current;
        state.lock();
        try {
            closed.countDown();
            current = term;
            if (acquiring) {
                thread.interrupt();
            }
        } finally {
            state.unlock();
        }
        if (current != null) {
            stop(current, TermEnd.CLOSED);
        }
        return ended.copy();
    }

    private @Nullable Term current() {
        state.lock();
        try {
            return term;
        } finally {
            state.unlock();
        }
    }

    private void campaign() {
        Optional<ElectionReporter.Campaign> reported = Optional.empty();
        try {
            LOG.info("event=election-started lock=\"{}\"", shown);
            reported = reporter.map(each -> each.electionStarted(this::isLeading));
            while (isRunning()) {
                Duration pause = Duration.ZERO;
                try {
                    Lease lease = acquire();
                    if (lease != null) {
                        pause = lead(lease, reported) == TermEnd.LOST ? Duration.ZERO : options.pauseAfterTerm();
                        failurePauses.reset();
                    }
                } catch (ClientClosedException e) {
                    LOG.info("event=election-client-closed lock=\"{}\"", shown);
                    break;
                } catch (BodyFailure e) {
                    pause = report(Objects.requireNonNull(e.getCause()));
                } catch (Throwable e) { // also an Error: a candidate whose thread has died would never lead again
                    pause = report(e);
                }
                awaitClosed(pause);
            }
        } finally {
            closed.countDown();
            try {
                reported.ifPresent(ElectionReporter.Campaign::ended);
                LOG.info("event=election-ended lock=\"{}\"", shown);
            } finally { // a close waits for it
                ended.complete(null);
            }
        }
    }

    /** Waits for the lock; returns null if the wait was interrupted, by {@link #close()} or by the application. */
    private @Nullable Lease acquire() {
        state.lock();
        try {
            if (!isRunning()) {
                return null;
            }
            acquiring = true;
        } finally {
            state.unlock();
        }
        try {
            return lock.acquire();
        } catch (InterruptedException e) {
            return null;
        } finally {
            state.lock();
            try {
                acquiring = false;
                Thread.interrupted(); // a grant that coincided with close() is released in the normal way
            } finally {
                state.unlock();
            }
        }
    }

    /** Runs one term, and releases its lease. */
    private TermEnd lead(Lease lease, Optional<ElectionReporter.Campaign> reported) throws BodyFailure {
        try {
            if (!lease.isHeld()) { // the process paused after the grant
                return TermEnd.LOST;
            }
            Term elected = new Term(this, lease);
            if (!begin(elected)) {
                return TermEnd.CLOSED;
            }
            lease.lost().thenAccept(reason -> stop(elected, TermEnd.LOST));
            LOG.info("event=election-won lock=\"{}\" owner={}", shown, lease.ownerId());
            reported.ifPresent(ElectionReporter.Campaign::elected);
            notifyListeners(listener -> listener.elected(elected));
            Throwable thrown = null;
            try {
                if (elected.isStopped()) {
                    Thread.currentThread().interrupt(); // the listener may have used the interrupt up
                }
                body.lead(elected);
            } catch (Throwable e) {
                thrown = e;
            }
            boolean stopped = elected.isOver();
            TermEnd end = elected.end(thrown == null ? TermEnd.RETURNED : TermEnd.FAILED);
            Thread.interrupted(); // the stop of this term must not end the next wait
            LOG.info("event=election-term-ended lock=\"{}\" owner={} end={}", shown, lease.ownerId(), end);
            notifyListeners(listener -> listener.ended(elected, end));
            if (thrown != null && !(stopped && isReactionToStop(thrown))) {
                throw new BodyFailure(thrown);
            }
            return end;
        } finally {
            end();
            lease.close();
        }
    }

    /** Makes this the current term; returns false if the election was closed. */
    private boolean begin(Term elected) {
        state.lock();
        try {
            if (isRunning()) {
                term = elected;
            }
            return term != null;
        } finally {
            state.unlock();
        }
    }

    private void end() {
        state.lock();
        try {
            term = null;
        } finally {
            state.unlock();
        }
    }

    private static boolean isReactionToStop(Throwable thrown) {
        return thrown instanceof InterruptedException || thrown instanceof LeaseLostException;
    }

    void stop(Term stopped, TermEnd reason) {
        stopped.stop(reason, thread);
    }

    /** Runs a part of a stop, such as its callbacks. Without a thread it runs here: late or slow is better than never. */
    void startStopThread(Runnable part) {
        Thread stopper;
        try {
            stopper =
                    Objects.requireNonNull(options.threads().newThread(part), "the thread factory returned no thread");
            stopper.setName(thread.getName() + "-stop");
            stopper.start();
        } catch (Throwable e) { // no memory for a thread, or a factory that makes one thread only
            warn("event=election-stop-thread-failed lock=\"" + shown + "\"", e);
            part.run();
        }
    }

    /** Logs a warning if the body continues. The timer ends with the term, so that it does not keep a term that is over. */
    void watchStop(Term stopped, TermEnd reason) {
        stopped.ended()
                .orTimeout(options.stopTimeout().toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyAsync(timeout -> {
                    warnThatBodyContinues(reason);
                    return null;
                });
    }

    private void warnThatBodyContinues(TermEnd reason) {
        LOG.warn(
                "event=election-body-ignores-stop lock=\"{}\" end={} after={} thread=\"{}\" "
                        + "hint=\"this candidate leads again only after its body has ended\"",
                shown,
                reason,
                options.stopTimeout(),
                thread.getName());
    }

    private Duration report(Throwable failure) {
        Duration pause = failurePauses.next();
        warn("event=election-failed lock=\"" + shown + "\" retryAfter=" + pause, failure);
        notifyListeners(listener -> listener.failed(failure));
        return pause;
    }

    /** Logs a failure, also one that cannot be printed: what comes after it must go on. */
    static void warn(String event, Throwable failure) {
        try {
            LOG.warn("{}", event, failure);
        } catch (Throwable e) {
            LOG.warn("{} type={}", event, failure.getClass());
        }
    }

    private void notifyListeners(Consumer<ElectionListener> notification) {
        for (ElectionListener listener : options.listeners()) {
            try {
                notification.accept(listener);
            } catch (Throwable e) {
                warn("event=election-listener-failed lock=\"" + shown + "\"", e);
            }
        }
    }

    private void awaitClosed(Duration pause) {
        try {
            closed.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.interrupted(); // by the application; only close() ends the campaign
        }
    }

    @Override
    public String toString() {
        return "Election[" + shown + (isLeading() ? ", leading" : "") + "]";
    }

    /** Carries what the body threw, to tell it from a failure of the lock. */
    private static final class BodyFailure extends Exception {
        private static final long serialVersionUID = 1;

        BodyFailure(Throwable thrown) {
            super(thrown);
        }
    }
}
