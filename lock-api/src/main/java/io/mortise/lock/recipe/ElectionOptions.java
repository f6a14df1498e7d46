// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.support.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Options of an {@link Election}. Immutable and thread-safe; each method with a parameter returns a changed copy, and rejects an
 * invalid value with an {@link IllegalArgumentException} (S14).
 *
 * <p>The {@link io.mortise.lock.LockOptions} of the lock apply too: others see the metadata of the leader, and a crashed leader is
 * replaced after the lease duration.
 */
public final class ElectionOptions {
    /** The values of the options; not changed any more once an instance has them. */
    private static final class Values {
        private Duration pauseAfterTerm = Duration.ofSeconds(1);
        private Duration firstFailurePause = Duration.ofSeconds(1);
        private Duration longestFailurePause = Duration.ofSeconds(30);
        private Duration stopTimeout = Duration.ofSeconds(10);
        private ThreadFactory threads = ElectionOptions::daemon;
        private List<ElectionListener> listeners = List.of();
    }

    private final DistributedLock lock;
    private final Values values; // final, so that an instance may be passed to other threads in any way

    private ElectionOptions(DistributedLock lock, Values values) {
        this.lock = lock;
        this.values = values;
    }

    private ElectionOptions copy(Consumer<Values> change) {
        Values changed = new Values();
        changed.pauseAfterTerm = values.pauseAfterTerm;
        changed.firstFailurePause = values.firstFailurePause;
        changed.longestFailurePause = values.longestFailurePause;
        changed.stopTimeout = values.stopTimeout;
        changed.threads = values.threads;
        changed.listeners = values.listeners;
        change.accept(changed);
        return new ElectionOptions(lock, changed);
    }

    static ElectionOptions defaults(DistributedLock lock) {
        return new ElectionOptions(Objects.requireNonNull(lock, "lock"), new Values());
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
        return copy(changed -> changed.pauseAfterTerm = DurationLimits.positive("pauseAfterTerm", pause));
    }

    /**
     * Sets how long the candidate waits after a failure. The pause doubles with each failure, until a term ends without one; a
     * random part of up to a fifth is added, so that candidates do not retry in step. Default: 1 s, at most 30 s.
     *
     * @param first the pause after the first failure, more than zero
     * @param longest the longest pause, from {@code first} to 36,500 days
     */
    public ElectionOptions pauseAfterFailure(Duration first, Duration longest) {
        DurationLimits.positive("first", first);
        DurationLimits.within("longest", longest, first, DurationLimits.LONGEST);
        return copy(changed -> {
            changed.firstFailurePause = first;
            changed.longestFailurePause = longest;
        });
    }

    /**
     * Sets how long {@link Election#close()} waits for the body, and after which time the log names a body that ignores its
     * stop. Default: 10 s.
     *
     * @param timeout more than zero, at most 36,500 days
     */
    public ElectionOptions stopTimeout(Duration timeout) {
        return copy(changed -> changed.stopTimeout = DurationLimits.positive("stopTimeout", timeout));
    }

    /**
     * Sets the factory of the election's threads, such as {@code Thread.ofVirtual().factory()}: of one that waits and leads, and of
     * one for the callbacks of each {@linkplain Term#onStop stop}. The election names them after the lock. Default: daemon threads.
     */
    public ElectionOptions threads(ThreadFactory factory) {
        Objects.requireNonNull(factory, "factory");
        return copy(changed -> changed.threads = factory);
    }

    /** Adds a listener to those that follow the election. Default: none. */
    public ElectionOptions listener(ElectionListener follower) {
        Objects.requireNonNull(follower, "follower");
        return copy(changed -> changed.listeners =
                Stream.concat(changed.listeners.stream(), Stream.of(follower)).toList());
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
        return values.pauseAfterTerm;
    }

    /** Returns the pauses after failures in a row, for one campaign. */
    Backoff failurePauses() {
        return new Backoff(values.firstFailurePause, values.longestFailurePause, new Random());
    }

    Duration stopTimeout() {
        return values.stopTimeout;
    }

    ThreadFactory threads() {
        return values.threads;
    }

    List<ElectionListener> listeners() {
        return values.listeners;
    }
}
