// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A candidate in the election of a leader on one lock: it waits for the lock, runs the body for a {@link Term}, and waits again.
 *
 * <p>The body is stopped at the deadline of the lease at the latest, so before the store can grant the lock by expiry; after a
 * forced release with the next event or renewal, when another candidate may lead already (S1, S7). One thread waits
 * and runs the body, so a second body never runs beside one that ignores its stop. The lock is released only after the body has
 * ended. After a body that returns, resigns or throws, the candidate pauses, so that others can go first, and continues. Only
 * {@link #close()}, or that of the client, ends the campaign. Thread-safe.
 */
public final class Election implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);

    private final DistributedLock lock;
    private final String shown;
    private final ElectionOptions options;
    private final TermBody body;
    private final Thread thread;
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
     * Ends the campaign: stops the body, and waits for its end and the release, at most for the
     * {@linkplain ElectionOptions#stopTimeout stop timeout}. Idempotent. A call by the body does not wait. A body that continues
     * keeps the lock until it ends or the lease is lost, and the log says so. An interrupt ends the wait; the interrupt flag is
     * kept.
     */
    @Override
    public void close() {
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
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(Math.max(1, options.stopTimeout().toMillis())); // zero would wait without a limit
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
        LOG.info("event=election-started lock=\"{}\"", shown);
        int failures = 0;
        try {
            while (isRunning()) {
                Duration pause = Duration.ZERO;
                try {
                    Lease lease = acquire();
                    if (lease != null) {
                        pause = lead(lease) == TermEnd.LOST ? Duration.ZERO : options.pauseAfterTerm();
                    }
                    failures = 0;
                } catch (ClientClosedException e) {
                    LOG.info("event=election-client-closed lock=\"{}\"", shown);
                    break;
                } catch (BodyFailure e) {
                    pause = report(Objects.requireNonNull(e.getCause()), ++failures);
                } catch (Throwable e) { // also an Error: a candidate whose thread has died would never lead again
                    pause = report(e, ++failures);
                }
                awaitClosed(pause);
            }
        } finally {
            closed.countDown();
            LOG.info("event=election-ended lock=\"{}\"", shown);
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
    private TermEnd lead(Lease lease) throws BodyFailure {
        try {
            Term elected = new Term(this, lease);
            if (!begin(elected)) {
                return TermEnd.CLOSED;
            }
            lease.lost().thenAccept(reason -> stop(elected, TermEnd.LOST));
            LOG.info("event=election-won lock=\"{}\" owner={}", shown, lease.ownerId());
            notifyListener(() -> options.listener().elected(elected));
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
            TermEnd end = elected.bodyEnded(thrown == null ? TermEnd.RETURNED : TermEnd.FAILED);
            Thread.interrupted(); // the stop of this term must not end the next wait
            LOG.info("event=election-term-ended lock=\"{}\" owner={} end={}", shown, lease.ownerId(), end);
            notifyListener(() -> options.listener().ended(elected, end));
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

    /** Logs a warning if the body continues. The timer ends with the body, so that it does not keep a term that is over. */
    void watchStop(Term stopped, TermEnd reason) {
        stopped.bodyEnded()
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

    private Duration report(Throwable failure, int failures) {
        Duration pause = options.pauseAfterFailures(failures);
        try {
            LOG.warn("event=election-failed lock=\"{}\" retryAfter={}", shown, pause, failure);
        } catch (Throwable e) { // such as a failure that cannot be printed; the campaign must go on
            LOG.warn("event=election-failed lock=\"{}\" retryAfter={} type={}", shown, pause, failure.getClass());
        }
        notifyListener(() -> options.listener().failed(failure));
        return pause;
    }

    private void notifyListener(Runnable notification) {
        try {
            notification.run();
        } catch (Throwable e) {
            LOG.warn("event=election-listener-failed lock=\"{}\"", shown, e);
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
