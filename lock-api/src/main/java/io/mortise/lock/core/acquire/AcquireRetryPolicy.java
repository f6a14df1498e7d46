// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Backoff;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides after each attempt of an acquire operation whether to retry, and how long to wait first. It keeps the results of
 * the attempts so far. Not thread-safe: the operation guards it.
 */
public final class AcquireRetryPolicy {
    /** The shortest pause, so that a backend which returns a pause of zero does not cause a busy loop. */
    private static final Duration SHORTEST_RETRY = Duration.ofMillis(1);

    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final LockName lock;
    private final WaitPolicy waitPolicy;
    private final LastResponse lastResponse;
    private final RandomGenerator random;
    private final Backoff backoff;

    /** Whether the latest result was "busy". */
    private boolean busy;

    private boolean displaced;

    /** When the first attempt without a response was sent since the latest response; null if there is no such attempt. */
    private @Nullable MonotonicInstant failingSince;

    private MonotonicInstant sent;
    private boolean pending;
    private @Nullable LockException lastFailure;

    /** The next step: to end with an outcome, or to make another attempt after a pause if the outcome is null. */
    record Next(@Nullable AcquireOutcome outcome, Duration pause) {
        static Next end(AcquireOutcome outcome) {
            return new Next(outcome, Duration.ZERO);
        }

        static Next retry(Duration pause) {
            return new Next(null, pause);
        }
    }

    AcquireRetryPolicy(LockName lock, WaitPolicy waitPolicy, LastResponse lastResponse, RandomGenerator random) {
        this.lock = lock;
        this.waitPolicy = waitPolicy;
        this.lastResponse = lastResponse;
        this.random = random;
        this.sent = waitPolicy.started();
        this.backoff = new Backoff(FIRST_RETRY, LONGEST_RETRY, random);
    }

    /** Records that an attempt is sent now. */
    void attemptSent(MonotonicInstant now) {
        sent = now;
        pending = true;
    }

    Next busy(Duration retryAfter) {
        busy = true;
        pending = false;
        displaced = false;
        failingSince = null;
        backoff.reset();
        if (!waitPolicy.mayWait()) {
            return Next.end(new AcquireOutcome.Busy());
        }
        Duration pause = Durations.longer(retryAfter, SHORTEST_RETRY);
        return Next.retry(waitPolicy.pauseAfterBusy(Backoff.jittered(pause, random)));
    }

    /** Retries at once with a new queue entry; after a pause if the contender was displaced twice in a row. */
    Next displaced(String why, String endpoints) {
        boolean again = displaced;
        busy = false;
        displaced = true;
        lastFailure = lastFailure == null ? new BackendUnavailableException(why) : lastFailure; // a failure says more
        if (!again) {
            return Next.retry(Duration.ZERO);
        }
        return afterFailure(endpoints);
    }

    Next failed(Throwable failure, String endpoints) {
        LockException cause = asLockException(failure);
        busy = false;
        lastFailure = cause;
        if (!(cause instanceof BackendUnavailableException)) {
            return Next.end(new AcquireOutcome.Failed(cause));
        }
        return afterFailure(endpoints);
    }

    private Next afterFailure(String endpoints) {
        MonotonicInstant since = failingSince == null ? sent : failingSince;
        failingSince = since;
        lastResponse.failed(sent);
        return !waitPolicy.mayWait() || waitPolicy.outageTooLong(since)
                ? Next.end(new AcquireOutcome.Failed(unavailable(endpoints)))
                : Next.retry(waitPolicy.pauseAfterFailure(backoff.next(), since));
    }

    /**
     * Returns the outcome when the time limit has passed: busy only if the latest result was "busy" and is recent enough (S15).
     *
     * @param queueBusy whether the latest result in the local queue of this operation was "busy"; false if it has no local
     *     queue
     */
    AcquireOutcome atDeadline(boolean queueBusy, String endpoints) {
        return (busy || queueBusy) && waitPolicy.busyIsRecent()
                ? new AcquireOutcome.Busy()
                : new AcquireOutcome.Failed(unavailable(endpoints));
    }

    BackendUnavailableException unavailable(String endpoints) {
        LockException cause = lastFailure;
        return new BackendUnavailableException(
                "lock \"" + lock + "\" was not acquired: its requests have had no successful response for "
                        + silence().toMillis() + " ms (" + endpoints + ")"
                        + (cause == null ? "" : ": " + cause.getMessage()),
                endpoints,
                cause);
    }

    /** Returns the time since the first request without a response. Time without requests is not an outage. */
    private Duration silence() {
        MonotonicInstant since = failingSince != null ? failingSince : pending ? sent : null;
        Duration own = since == null ? Duration.ZERO : waitPolicy.since(since);
        Duration clients = lastResponse.failing();
        Duration longest = Durations.longer(own, clients);
        return longest.isZero() ? lastResponse.since() : longest;
    }

    private static LockException asLockException(Throwable failure) {
        Throwable cause = StageFailures.unwrap(failure);
        return cause instanceof LockException known
                ? known
                : new BackendRefusedException("the backend failed: " + cause, cause);
    }
}
