// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.Ticket;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lease: HELD, then RELEASED or LOST, exactly once. */
final class HeldLease implements Lease, Liveness.Listener {
    private static final Logger log = LoggerFactory.getLogger(HeldLease.class);

    /** How it ended; without a reason: by release. */
    private record End(@Nullable LossReason loss) {}

    private static final End RELEASE = new End(null);

    private final CoreClient client;
    private final LockName name;
    private final Ticket ticket;
    private final String ownerId;
    private final long token;
    private final Liveness liveness;
    private final Duration leaseDuration;
    private final @Nullable Long holdUntil;
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();
    private final CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Set<ExpiryNotice> notices = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean selfWaitWarned = new AtomicBoolean();
    private volatile LockClock.@Nullable Timer maxHold;

    HeldLease(
            CoreClient client,
            LockName name,
            Ticket ticket,
            String ownerId,
            Attempt.Granted granted,
            LockOptions options,
            Duration leaseDuration) {
        this.client = client;
        this.name = name;
        this.ticket = ticket;
        this.ownerId = ownerId;
        this.token = granted.token();
        this.liveness = granted.liveness();
        this.leaseDuration = leaseDuration;
        this.holdUntil = options.maxHold()
                .map(hold -> client.clock.nanoTime() + hold.toNanos())
                .orElse(null);
    }

    /** Starts watching and renewing. False: it is over already, or the client closes; then nothing was started. */
    boolean begin() {
        if (!liveness.isValid() || !client.keeper.hold(liveness)) {
            return false;
        }
        if (!liveness.attach(this) || !client.holders.add(name, this)) {
            end.set(RELEASE);
            stopWatching();
            return false;
        }
        if (holdUntil != null) {
            maxHold = client.clock.schedule(
                    Duration.ofNanos(holdUntil - client.clock.nanoTime()),
                    () -> lost(new LossReason(LossReason.Kind.MAX_HOLD, "held for the maximum time")));
            if (end.get() != null) {
                stopWatching();
            }
        }
        log.debug("event=granted lock=\"{}\" owner={} token={}", name, ownerId, token);
        return true;
    }

    @Override
    public String lockName() {
        return name.value();
    }

    @Override
    public String ownerId() {
        return ownerId;
    }

    @Override
    public long fencingToken() {
        if (!client.capabilities().contains(Capability.FENCING)) {
            throw new UnsupportedOperationException("this backend gives no fencing tokens");
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return end.get() == null && left() > 0;
    }

    @Override
    public void ensureHeld() {
        if (!isHeld()) {
            throw new LeaseLostException(lockName(), lossReason());
        }
    }

    /** Why it is not held; a release by the application itself counts as its own removal. */
    LossReason lossReason() {
        End ended = end.get();
        if (ended == null) {
            return new LossReason(LossReason.Kind.EXPIRED, "the deadline is over");
        }
        return ended.loss() != null ? ended.loss() : new LossReason(LossReason.Kind.REMOVED, "it was released");
    }

    @Override
    public Duration remaining() {
        return end.get() != null ? Duration.ZERO : Duration.ofNanos(Math.max(0, left()));
    }

    /** Nanoseconds until the deadline or the end of the maximum hold, whichever comes first. */
    private long left() {
        long now = client.clock.nanoTime();
        if (liveness.reason().isPresent()) {
            return 0;
        }
        long untilDeadline = liveness.validUntil() - now;
        return holdUntil == null ? untilDeadline : Math.min(untilDeadline, holdUntil - now);
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost.minimalCompletionStage();
    }

    @Override
    public void onExpiring(Duration before, Runnable callback) {
        if (before.isNegative() || before.isZero()) {
            throw new IllegalArgumentException("before is " + before + ", must be more than zero");
        }
        ExpiryNotice notice = new ExpiryNotice(before, callback);
        notices.add(notice);
        notice.check();
    }

    /** It is gone: the state flips here and now, the callbacks follow on their executor (S7). */
    @Override
    public void lost(LossReason reason) {
        if (!end.compareAndSet(null, new End(reason))) {
            return;
        }
        log.warn("event=lost lock=\"{}\" owner={} token={} reason=\"{}\"", name, ownerId, token, reason);
        stopWatching();
        released.complete(ReleaseOutcome.LOST);
        client.callbacks.execute(() -> lost.complete(reason));
        client.withdraw(name, ticket, leaseDuration);
    }

    @Override
    public ReleaseOutcome release() {
        beginRelease();
        return Blocking.awaitOr(released, ReleaseOutcome.UNKNOWN);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        beginRelease();
        CompletableFuture<ReleaseOutcome> seen = new CompletableFuture<>();
        released.thenAccept(outcome -> client.callbacks.execute(() -> seen.complete(outcome)));
        return seen;
    }

    private void beginRelease() {
        if (end.get() != null) {
            return;
        }
        checkDeadlines(); // a loss that the timer has not seen yet must not turn into a release
        if (!end.compareAndSet(null, RELEASE)) {
            return;
        }
        stopWatching();
        log.debug("event=releasing lock=\"{}\" owner={} token={}", name, ownerId, token);
        client.end(name, ticket, leaseDuration, new Settlement.Listener<Boolean>() {
            @Override
            public void settled(Boolean wasThere, boolean firstTry) {
                released.complete(outcome(wasThere, firstTry));
            }

            @Override
            public void givenUp(Throwable last) {
                released.complete(ReleaseOutcome.UNKNOWN);
            }
        });
        if (!released.isDone()) {
            LockClock.Timer bound = client.clock.schedule(
                    client.options.requestTimeout(), () -> released.complete(ReleaseOutcome.UNKNOWN));
            released.thenRun(bound::cancel);
        }
    }

    /** "Not there" means that we lost it, unless an earlier try of ours, its reply lost, may have removed it (S5). */
    private ReleaseOutcome outcome(boolean wasThere, boolean firstTry) {
        if (wasThere) {
            return ReleaseOutcome.RELEASED;
        }
        if (firstTry) {
            return ReleaseOutcome.LOST;
        }
        return liveness.isValid() ? ReleaseOutcome.RELEASED : ReleaseOutcome.UNKNOWN;
    }

    private void checkDeadlines() {
        if (liveness.checkDeadline() && left() <= 0) {
            lost(new LossReason(LossReason.Kind.MAX_HOLD, "held for the maximum time"));
        }
    }

    private void stopWatching() {
        liveness.detach(this);
        client.keeper.unhold(liveness);
        client.holders.remove(name, this);
        LockClock.Timer timer = maxHold;
        if (timer != null) {
            timer.cancel();
        }
        notices.forEach(ExpiryNotice::cancel);
        notices.clear();
    }

    /** Whether this is the first warning about this lease. */
    boolean warnOnce() {
        return selfWaitWarned.compareAndSet(false, true);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return ticket.unwrap(type);
    }

    @Override
    public void close() {
        ReleaseOutcome outcome = release();
        if (outcome != ReleaseOutcome.RELEASED) {
            log.warn("event=close-not-released lock=\"{}\" owner={} outcome={}", name, ownerId, outcome);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name + ", owner " + ownerId + ", token " + token + ", " + (isHeld() ? "held" : "over") + "]";
    }

    /** One {@link #onExpiring} callback: follows the deadline as renewals move it. */
    private final class ExpiryNotice {
        private final Duration before;
        private final AtomicReference<@Nullable Runnable> callback;
        private volatile LockClock.@Nullable Timer timer;

        ExpiryNotice(Duration before, Runnable callback) {
            this.before = before;
            this.callback = new AtomicReference<>(callback);
        }

        void check() {
            if (end.get() != null) {
                cancel();
                return;
            }
            long wait = left() - before.toNanos();
            if (wait > 0) {
                timer = client.clock.schedule(Duration.ofNanos(wait), this::check);
                if (end.get() != null) {
                    cancel();
                }
                return;
            }
            notices.remove(this);
            Runnable due = callback.getAndSet(null);
            if (due != null) {
                client.callbacks.execute(due);
            }
        }

        void cancel() {
            callback.set(null);
            LockClock.Timer set = timer;
            if (set != null) {
                set.cancel();
            }
        }
    }
}
