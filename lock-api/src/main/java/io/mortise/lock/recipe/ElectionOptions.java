// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;

/**
 * Options of an {@link Election}. Immutable and thread-safe; each method with a parameter returns a changed copy, and rejects an
 * invalid value with an {@link IllegalArgumentException} (S14).
 *
 * <p>The {@link io.mortise.lock.LockOptions} of the lock apply too: others see the metadata of the leader, and a crashed leader is
 * replaced after the lease duration.
 */
public final class ElectionOptions {
    private static final ElectionListener NO_LISTENER = new ElectionListener() {};

    private final DistributedLock lock;
    private final Pauses pauses;
    private final Duration stopTimeout;
    private final ThreadFactory threads;
    private final ElectionListener listener;

    private ElectionOptions(
            DistributedLock lock,
            Pauses pauses,
            Duration stopTimeout,
            ThreadFactory threads,
            ElectionListener listener) {
        this.lock = lock;
        this.pauses = pauses;
        this.stopTimeout = stopTimeout;
        this.threads = threads;
        this.listener = listener;
    }

    static ElectionOptions defaults(DistributedLock lock) {
        return new ElectionOptions(
                Objects.requireNonNull(lock, "lock"),
                new Pauses(Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(30)),
                Duration.ofSeconds(10),
                ElectionOptions::daemon,
                NO_LISTENER);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Sets how long the candidate waits after a body that returned or resigned, so that others can go first. Default: 1 s.
     *
     * @param pause more than zero, at most 36,500 days
     */
    public ElectionOptions pauseAfterTerm(Duration pause) {
        DurationLimits.positive("pauseAfterTerm", pause);
        return new ElectionOptions(
                lock, new Pauses(pause, pauses.firstFailure, pauses.longestFailure), stopTimeout, threads, listener);
    }

    /**
     * Sets how long the candidate waits after a failure. The pause doubles with each failure, until a term ends without one.
     * Default: 1 s, at most 30 s.
     *
     * @param first the pause after the first failure, more than zero
     * @param longest the longest pause, from {@code first} to 36,500 days
     */
    public ElectionOptions pauseAfterFailure(Duration first, Duration longest) {
        DurationLimits.positive("first", first);
        DurationLimits.within("longest", longest, first, DurationLimits.LONGEST);
        return new ElectionOptions(lock, new Pauses(pauses.afterTerm, first, longest), stopTimeout, threads, listener);
    }

    /**
     * Sets how long {@link Election#close()} waits for the body, and after which time the log names a body that ignores its
     * stop. Default: 10 s.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ElectionOptions stopTimeout(Duration timeout) {
        return new ElectionOptions(lock, pauses, DurationLimits.positive("stopTimeout", timeout), threads, listener);
    }

    /**
     * Sets the factory of the election's one thread, such as {@code Thread.ofVirtual().factory()}; the election names the thread
     * after the lock. Default: a daemon thread.
     */
    public ElectionOptions threads(ThreadFactory factory) {
        return new ElectionOptions(lock, pauses, stopTimeout, Objects.requireNonNull(factory, "factory"), listener);
    }

    /** Sets the listener that follows the election. Default: none. */
    public ElectionOptions listener(ElectionListener follower) {
        return new ElectionOptions(lock, pauses, stopTimeout, threads, Objects.requireNonNull(follower, "follower"));
    }

    /**
     * Starts a candidate with these options, and returns at once. An unavailable store is reported and tried again.
     *
     * @param body the work of the leader
     * @return the election, which the caller must close
     */
    public Election run(TermBody body) {
        return new Election(lock, this, Objects.requireNonNull(body, "body")).start();
    }

    Duration pauseAfterTerm() {
        return pauses.afterTerm;
    }

    /** Returns the pause after that many failures in a row. */
    Duration pauseAfterFailures(int failures) {
        Duration pause = pauses.firstFailure;
        for (int i = 1; i < failures && pause.compareTo(pauses.longestFailure) < 0; i++) {
            pause = pause.multipliedBy(2);
        }
        return pause.compareTo(pauses.longestFailure) < 0 ? pause : pauses.longestFailure;
    }

    Duration stopTimeout() {
        return stopTimeout;
    }

    ThreadFactory threads() {
        return threads;
    }

    ElectionListener listener() {
        return listener;
    }

    /** The pauses between two waits for the lock. */
    private record Pauses(Duration afterTerm, Duration firstFailure, Duration longestFailure) {}
}
