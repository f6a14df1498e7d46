// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.core.runtime.Backoff;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Results of the attempts of one acquire so far, and the decision what to do next. Decides, does nothing; its acquisition
 * guards it.
 */
public final class AcquireRetryPolicy {
    /** A backend that asks for no pause at all must not make a loop. */
    private static final Duration SHORTEST_RETRY = Duration.ofMillis(1);

    private static final Duration FIRST_RETRY = Duration.ofMillis(50);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(1);

    private final LockName lock;
    private final WaitPolicy waitPolicy;
    private final LastResponse lastResponse;
    private final RandomGenerator random;
    private final Backoff backoff;

    /** The latest answer was "busy". */
    private boolean busy;

    private boolean displaced;

    /** When the first of the attempts was sent that have had no answer since the last one had. */
    private @Nullable MonotonicTime failingSince;

    private MonotonicTime sent;
    private boolean unanswered;
    private @Nullable LockException trouble;

    /** What follows an answer: this outcome, or another attempt after the pause. */
    record Next(@Nullable AcquireOutcome outcome, Duration pause) {
        static Next end(AcquireOutcome outcome) {
            return new Next(outcome, Duration.ZERO);
        }

        static Next ask(Duration pause) {
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

    /** An attempt is sent now. */
    void asking(MonotonicTime now) {
        sent = now;
        unanswered = true;
    }

    Next busy(Duration retryAfter) {
        busy = true;
        unanswered = false;
        displaced = false;
        failingSince = null;
        backoff.reset();
        if (!waitPolicy.mayWait()) {
            return Next.end(new AcquireOutcome.Busy());
        }
        Duration pause = Durations.longer(retryAfter, SHORTEST_RETRY);
        return Next.ask(waitPolicy.pauseAfterBusy(Backoff.jittered(pause, random)));
    }

    /** Queues anew at once; twice in a row, after a pause. */
    Next displaced(String why, String endpoints) {
        boolean again = displaced;
        busy = false;
        displaced = true;
        trouble = trouble == null ? new BackendUnavailableException(why) : trouble; // what failed says more
        if (!again) {
            return Next.ask(Duration.ZERO);
        }
        return afterFailure(endpoints);
    }

    Next failed(Throwable failure, String endpoints) {
        LockException cause = asLockException(failure);
        busy = false;
        trouble = cause;
        if (!(cause instanceof BackendUnavailableException)) {
            return Next.end(new AcquireOutcome.Failed(cause));
        }
        return afterFailure(endpoints);
    }

    private Next afterFailure(String endpoints) {
        MonotonicTime since = failingSince == null ? sent : failingSince;
        failingSince = since;
        lastResponse.failed(sent);
        return !waitPolicy.mayWait() || waitPolicy.storeGone(since)
                ? Next.end(new AcquireOutcome.Failed(unavailable(endpoints)))
                : Next.ask(waitPolicy.pauseAfterFailure(backoff.next(), since));
    }

    /**
     * "Busy" only if that is what the store said last, and not long ago (S15).
     *
     * @param queueBusy what the store answered to the local queue in which this one waits; false where there is none
     */
    AcquireOutcome atDeadline(boolean queueBusy, String endpoints) {
        return (busy || queueBusy) && waitPolicy.busyIsFresh()
                ? new AcquireOutcome.Busy()
                : new AcquireOutcome.Failed(unavailable(endpoints));
    }

    BackendUnavailableException unavailable(String endpoints) {
        LockException cause = trouble;
        return new BackendUnavailableException(
                "lock \"" + lock + "\" was not acquired: the store has not answered for "
                        + silence().toMillis() + " ms (" + endpoints + ")"
                        + (cause == null ? "" : ": " + cause.getMessage()),
                endpoints,
                cause);
    }

    /** Since the first question without an answer: time in which nobody asked is no silence. */
    private Duration silence() {
        MonotonicTime since = failingSince != null ? failingSince : unanswered ? sent : null;
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
