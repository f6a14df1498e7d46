// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.listener.AcquireNotifier;
import io.mortise.lock.core.runtime.InterruptibleWait;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The default {@link Lease}, which ends exactly once, by a release or by a loss. */
public final class HeldLease implements Lease, GrantValidity.Listener {
    private static final Logger log = LoggerFactory.getLogger(HeldLease.class);

    /** The end of the lease: a loss with this reason, or a release if the reason is null. */
    private record End(@Nullable LossReason loss) {}

    private static final End RELEASE = new End(null);
    private static final LossReason FOUND_BY_RELEASE =
            new LossReason(LossReason.Kind.REMOVED, "the store no longer had the grant when it was released");

    private final LeaseServices with;
    private final LockName name;
    private final Contender contender;
    private final String ownerId;
    private final long token;
    private final GrantValidity validity;
    private final Duration leaseDuration;
    private final @Nullable MonotonicInstant holdUntil;
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();
    private final CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Set<ExpiryWarningCallback> expiryWarnings = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean held = new AtomicBoolean(); // whether the keeper counts this lease
    private final AtomicBoolean lossHandled = new AtomicBoolean();
    private final AtomicBoolean selfWaitWarned = new AtomicBoolean();
    private volatile LockClock.@Nullable Timer maxHold;
    private volatile @Nullable AcquireNotifier observers; // null if nobody observes this lease

    public HeldLease(
            LeaseServices with,
            LockName name,
            Contender contender,
            String ownerId,
            AttemptResult.Granted granted,
            LockOptions options,
            Duration leaseDuration) {
        this.with = with;
        this.name = name;
        this.contender = contender;
        this.ownerId = ownerId;
        this.token = granted.token();
        this.validity = granted.validity();
        this.leaseDuration = leaseDuration;
        this.holdUntil = options.maxHold().map(with.clock().now()::plus).orElse(null);
    }

    /**
     * Starts to renew the lease and to watch its deadline.
     *
     * @return false if the lease has ended already or the client closes; then the caller must {@link #discard} the lease
     */
    public boolean begin() {
        boolean open = with.holders().add(this);
        held.set(validity.isValid() && with.keeper().hold(validity));
        boolean attached = open && held.get() && validity.attach(this);
        if (holdUntil != null) {
            maxHold = with.clock().schedule(with.clock().until(holdUntil), this::checkDeadlines);
        }
        if (!attached || hasEnded()) {
            stopWatching(); // a concurrent loss may have reverted only a part of what this method did
            return false;
        }
        log.debug("event=granted lock=\"{}\" owner={} token={}", name, ownerId, token);
        return true;
    }

    /** Notifies the observers of the grant, and from now on of renewals and of the end. A loss before this call is passed on. */
    public void observe(AcquireNotifier notifier) {
        notifier.granted(this, validity.validUntil());
        observers = notifier;
        End ended = end.get();
        if (ended != null && ended.loss() != null) {
            notifier.lost(ended.loss());
        }
    }

    @Override
    public void extended() {
        AcquireNotifier observing = observers;
        if (observing != null && !hasEnded()) {
            observing.renewed(validity.validUntil(), leaseDuration);
        }
    }

    /** Ends a lease that is not delivered, and removes its grant from the store, unless a loss has already done so. */
    public void discard() {
        if (end.compareAndSet(null, RELEASE)) {
            stopWatching();
            with.removals().remove(name, contender, leaseDuration);
        }
    }

    LockName name() {
        return name;
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
        if (!with.backend().capabilities().contains(Capability.FENCING)) {
            throw new UnsupportedOperationException("this backend gives no fencing tokens");
        }
        return token;
    }

    @Override
    public boolean isHeld() {
        return !hasEnded() && !left().isZero();
    }

    @Override
    public void ensureHeld() {
        if (!isHeld()) {
            throw new LeaseLostException(lockName(), lossReason());
        }
    }

    /** Returns why the lease is not held. If the application released it, the reason is {@link LossReason.Kind#REMOVED}. */
    public LossReason lossReason() {
        End ended = end.get();
        if (ended != null && ended.loss() != null) {
            return ended.loss();
        }
        if (ended == null) {
            return validity.reason()
                    .orElseGet(() -> new LossReason(LossReason.Kind.EXPIRED, "the deadline has passed"));
        }
        return released.getNow(ReleaseOutcome.UNKNOWN) == ReleaseOutcome.LOST
                ? FOUND_BY_RELEASE
                : new LossReason(LossReason.Kind.REMOVED, "the lease was released");
    }

    @Override
    public Duration remaining() {
        return hasEnded() ? Duration.ZERO : left();
    }

    /** Returns whether the lease was released, lost or discarded. Unlike {@link #isHeld}, does not compare the clock. */
    public boolean hasEnded() {
        return end.get() != null;
    }

    /** Returns the time until the deadline or the maximum hold, whichever is earlier. Once zero, it stays zero. */
    private Duration left() {
        while (validity.isValid()) {
            MonotonicInstant now = with.clock().now();
            MonotonicInstant deadline = validity.validUntil();
            if (now.isBefore(deadline)) {
                MonotonicInstant end = holdUntil == null ? deadline : deadline.orEarlier(holdUntil);
                return now.until(end.orLater(now));
            }
            // The deadline has passed. Check isValid() again, because a concurrent renewal may move the deadline.
        }
        return Duration.ZERO;
    }

    @Override
    public CompletableFuture<LossReason> lost() {
        return lost.copy();
    }

    @Override
    public void onExpiring(Duration before, Runnable callback) {
        Objects.requireNonNull(before, "before");
        Objects.requireNonNull(callback, "callback");
        if (before.isNegative() || before.isZero()) {
            throw new IllegalArgumentException("before is " + before + ", must be more than zero");
        }
        ExpiryWarningCallback warning = new ExpiryWarningCallback(
                this,
                with.clock(),
                before,
                () -> with.callbacks().execute(() -> {
                    if (!hasEnded()) { // the lease may have ended while the executor was busy
                        callback.run();
                    }
                }));
        expiryWarnings.add(warning);
        warning.check();
    }

    void forget(ExpiryWarningCallback warning) {
        expiryWarnings.remove(warning);
    }

    /** Marks the lease as lost immediately; the callbacks of the application follow on their executor (S7). */
    @Override
    public void lost(LossReason reason) {
        if (end.compareAndSet(null, new End(reason))) {
            stopWatching();
            with.callbacks().execute(() -> lost.complete(reason));
            released.complete(ReleaseOutcome.LOST);
        }
    }

    /** Logs the loss, and removes the grant that the store may still have. Has an effect only once, and only after a loss. */
    @Override
    public void afterLoss(LossReason announced) {
        End ended = end.get();
        LossReason reason = ended == null ? null : ended.loss();
        if (reason != null && lossHandled.compareAndSet(false, true)) {
            logLoss(reason);
            AcquireNotifier observing = observers;
            if (observing != null) {
                observing.lost(reason);
            }
            with.removals().remove(name, contender, leaseDuration);
        }
    }

    private void logLoss(LossReason reason) {
        with.warnings()
                .warn(
                        "lost",
                        reason.kind(),
                        "lock=\"{}\" owner={} token={} reason=\"{}\"",
                        name,
                        ownerId,
                        token,
                        reason);
    }

    /** Handles a loss that affects no other lease. */
    public void loseAlone(LossReason reason) {
        lost(reason);
        afterLoss(reason);
    }

    @Override
    public ReleaseOutcome release() {
        beginRelease(Duration.ZERO);
        return InterruptibleWait.awaitOr(released, ReleaseOutcome.UNKNOWN);
    }

    /** Ends the lease as {@link #release()} does, but an interrupt does not end the wait; the interrupt flag is kept. */
    public ReleaseOutcome releaseUninterruptibly() {
        beginRelease(Duration.ZERO);
        return released.join();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        beginRelease(Duration.ZERO);
        return outcomeForCaller();
    }

    @Override
    public ReleaseOutcome releaseAfter(Duration delay) {
        beginRelease(checked(delay));
        return InterruptibleWait.awaitOr(released, ReleaseOutcome.UNKNOWN);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAfterAsync(Duration delay) {
        beginRelease(checked(delay));
        return outcomeForCaller();
    }

    private Duration checked(Duration delay) {
        DurationLimits.within("delay", delay, Duration.ZERO, DurationLimits.LONGEST_LEASE);
        if (!with.backend().capabilities().contains(Capability.DELAYED_RELEASE)) {
            throw new UnsupportedOperationException("this backend cannot keep a lock after its lease has ended: "
                    + "it does not offer " + Capability.DELAYED_RELEASE);
        }
        if (Durations.isPositive(delay)) {
            with.backend().checkReleaseDelay(delay);
        }
        return delay;
    }

    private CompletableFuture<ReleaseOutcome> outcomeForCaller() {
        CompletableFuture<ReleaseOutcome> result = new CompletableFuture<>();
        released.thenAccept(outcome -> with.callbacks().execute(() -> result.complete(outcome)));
        return result;
    }

    /** @param delay how long the store keeps the lock after this call; zero to remove the grant */
    private void beginRelease(Duration delay) {
        if (hasEnded()) {
            return;
        }
        MonotonicInstant at = with.clock().now().plus(delay);
        checkDeadlines(); // if the deadline has passed, this is a loss, even if the timer has not run yet
        if (!end.compareAndSet(null, RELEASE)) {
            return;
        }
        stopWatching();
        log.debug("event=releasing lock=\"{}\" owner={} token={}", name, ownerId, token);
        CompletableFuture<ReleaseOutcome> outcome = releaseOutcome();
        LockClock.Timer bound =
                with.clock().schedule(with.requestTimeout(), () -> outcome.complete(ReleaseOutcome.UNKNOWN));
        outcome.thenRun(bound::cancel);
        with.removals().removeAt(name, contender, leaseDuration, at, new PendingCleanup.Listener<Boolean>() {
            @Override
            public void completed(Boolean wasThere, boolean firstTry) {
                outcome.complete(outcome(wasThere, firstTry, at));
            }

            @Override
            public void givenUp(Throwable last) {
                outcome.complete(ReleaseOutcome.UNKNOWN);
            }
        });
    }

    /** Returns the future to complete with the outcome of the release: log and observers have it before the application. */
    private CompletableFuture<ReleaseOutcome> releaseOutcome() {
        AcquireNotifier observing = observers;
        Duration heldFor = observing == null ? Duration.ZERO : observing.held();
        CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
        outcome.thenAccept(decided -> {
            try {
                report(decided, observing, heldFor);
            } finally {
                released.complete(decided);
            }
        });
        return outcome;
    }

    /** Reports the outcome of a release. A loss that it found is reported as any other loss. */
    private void report(ReleaseOutcome outcome, @Nullable AcquireNotifier observing, Duration heldFor) {
        boolean loss = outcome == ReleaseOutcome.LOST;
        if (loss) {
            logLoss(FOUND_BY_RELEASE);
        }
        if (observing != null && loss) {
            observing.lost(FOUND_BY_RELEASE, heldFor);
        } else if (observing != null) {
            observing.released(outcome, heldFor);
        }
    }

    /**
     * Returns the outcome of a release (S5). A missing grant means a loss, unless an earlier try may have removed it, or it ended
     * at its deadline, which has passed since the release began. An earlier try would have kept it until the given instant: if it
     * is missing before then, somebody else removed it, at any time.
     */
    private ReleaseOutcome outcome(boolean wasThere, boolean firstTry, MonotonicInstant keptUntil) {
        if (wasThere) {
            return ReleaseOutcome.RELEASED;
        }
        if (!validity.isValid()) {
            return ReleaseOutcome.UNKNOWN;
        }
        if (firstTry) {
            return ReleaseOutcome.LOST;
        }
        return with.clock().hasPassed(keptUntil) ? ReleaseOutcome.RELEASED : ReleaseOutcome.UNKNOWN;
    }

    private void checkDeadlines() {
        if (!validity.checkDeadline()) {
            validity.reason().ifPresent(this::loseAlone); // another thread may not have notified this lease yet
        } else if (holdUntil != null && with.clock().hasPassed(holdUntil)) {
            loseAlone(new LossReason(LossReason.Kind.MAX_HOLD, "held for the maximum time"));
        }
    }

    /** Stops renewals and timers of this lease. Idempotent, because begin() repeats it after a concurrent loss. */
    private void stopWatching() {
        validity.detach(this);
        if (held.getAndSet(false)) {
            with.keeper().unhold(validity);
        }
        with.holders().remove(this);
        LockClock.Timer timer = maxHold;
        if (timer != null) {
            timer.cancel();
        }
        expiryWarnings.forEach(ExpiryWarningCallback::cancel);
        expiryWarnings.clear();
    }

    /** Returns whether this is the first call, so that each lease causes one self-wait warning at most. */
    public boolean warnOnce() {
        return selfWaitWarned.compareAndSet(false, true);
    }

    public boolean selfWaitWarned() {
        return selfWaitWarned.get();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return contender.unwrap(Objects.requireNonNull(type, "type"));
    }

    @Override
    public void close() {
        ReleaseOutcome outcome = release();
        if (outcome != ReleaseOutcome.RELEASED) {
            with.warnings()
                    .warn("close-not-released", outcome, "lock=\"{}\" owner={} outcome={}", name, ownerId, outcome);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name + ", owner " + ownerId + ", token " + token + ", " + (isHeld() ? "held" : "ended") + "]";
    }
}
