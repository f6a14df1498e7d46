// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Model of one thread of a {@link ModelProcess}, which acquires, checks, writes and releases step by step. */
final class ModelThread {
    private final ModelProcess process;
    private final ModelLock lock;
    private final Random random;
    private final List<HistoryEvent> events;
    private @Nullable AcquireCallId call;
    private @Nullable Long token;
    private long limitAt = Long.MAX_VALUE;
    private boolean lost;

    ModelThread(ModelProcess process, ModelLock lock, Random random, List<HistoryEvent> events) {
        this.process = process;
        this.lock = lock;
        this.random = random;
        this.events = events;
    }

    /** @param last whether the thread should finish its call rather than start a new one */
    void step(long now, boolean last) {
        if (call == null) {
            if (!last && random.nextInt(3) == 0 && !process.isCut()) {
                acquire(now);
            }
        } else if (token == null) {
            await(now);
        } else {
            use(now, last);
        }
    }

    boolean isIdle() {
        return call == null;
    }

    private void acquire(long now) {
        boolean limited = random.nextInt(4) == 0;
        Duration limit = Duration.ofMillis(1 + random.nextInt(400));
        limitAt = limited ? now + limit.toNanos() : Long.MAX_VALUE;
        call = process.newCall();
        lost = false;
        events.add(
                new HistoryEvent.Requested(call, process.span(now), limited ? Optional.of(limit) : Optional.empty()));
        lock.enqueue(this);
    }

    private void await(long now) {
        AcquireCallId requested = Objects.requireNonNull(call);
        Long granted = lock.tokenOf(this);
        if (granted != null && !process.isCut() && random.nextInt(4) != 0) {
            token = granted;
            events.add(new HistoryEvent.Granted(requested, process.span(now), OptionalLong.of(granted)));
        } else if (now >= limitAt) {
            // While the link is cut, the store keeps the entry until the withdrawal arrives or the session expires.
            Optional<String> failure = process.isCut() ? Optional.of("unreachable") : Optional.empty();
            events.add(new HistoryEvent.GaveUp(requested, process.span(now), failure));
            finish();
        }
    }

    private void use(long now, boolean last) {
        AcquireCallId held = Objects.requireNonNull(call);
        int what = last ? 9 : random.nextInt(10);
        if (what < 4) {
            events.add(new HistoryEvent.Checked(held, process.span(now), !lost));
        } else if (what < 7) {
            long with = Objects.requireNonNull(token);
            events.add(new HistoryEvent.Wrote(held, UncertainInstant.at(now), with, lock.write(with)));
        } else if (what == 9) {
            events.add(new HistoryEvent.Releasing(held, process.span(now)));
            events.add(new HistoryEvent.Released(held, process.span(now), outcome()));
            finish();
        }
    }

    private ReleaseOutcome outcome() {
        if (lost) {
            return ReleaseOutcome.LOST;
        }
        return process.isCut() ? ReleaseOutcome.UNKNOWN : ReleaseOutcome.RELEASED;
    }

    private void finish() {
        if (process.isCut()) {
            process.delay(() -> lock.end(this));
        } else {
            lock.end(this);
        }
        call = null;
        token = null;
    }

    /** Records a check that started at {@code since} and returned the result that was right at that time. */
    void finishPendingCheck(long since, long now) {
        if (token != null) {
            events.add(new HistoryEvent.Checked(
                    Objects.requireNonNull(call),
                    new UncertainInstant(
                            process.span(since).earliest(), process.span(now).latest()),
                    !lost));
        }
    }

    /** Records the loss of the lease, whose deadline has passed. */
    void lose(long now) {
        if (token != null && !lost) {
            lost = true;
            events.add(new HistoryEvent.LossReported(Objects.requireNonNull(call), process.span(now), "EXPIRED"));
        }
    }

    /** Queues a waiter again in a new session; a grant of the old session has been removed. */
    void renew() {
        if (call != null && token == null && !lock.knows(this)) {
            lock.enqueue(this);
        }
    }

    void expire() {
        lock.end(this);
    }
}
