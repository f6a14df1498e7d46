// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.lease.LeaseEvent.Plain;
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
import io.mortise.lock.spi.support.EffectPerformer;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The default {@link Lease}, which ends exactly once, by a release or by a loss.
 *
 * <p>{@link LeaseState} decides, by compare-and-set, so that a query waits for nothing. The thread that brings an event performs
 * its effects.
 */
public final class HeldLease implements Lease, GrantValidity.Listener {
    private static final Logger log = LoggerFactory.getLogger(HeldLease.class);

    private static final AtomicReferenceFieldUpdater<HeldLease, LeaseState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(HeldLease.class, LeaseState.class, "state");

    private final LeaseServices with;
    private final LockName name;
    private final Contender contender;
    private final String ownerId;
    private final long token;
    private final GrantValidity validity;
    private final Duration leaseDuration;
    private final @Nullable MonotonicInstant holdUntil;
    private volatile LeaseState state = LeaseState.Open.GRANTED;
    private final CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Set<ExpiryWarningCallback> expiryWarnings = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean selfWaitWarned = new AtomicBoolean();

    private boolean leftClient; // guarded by the leases of the client

    // Set before the event REGISTERED or OBSERVED, and used only by effects of later states.
    private boolean renewed; // whether the keeper counts this lease
    private LockClock.@Nullable Timer maxHold;
    private @Nullable AcquireNotifier observers;

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
        boolean usable = accept(register() ? Plain.REGISTERED : Plain.NOT_REGISTERED) == LeaseState.Open.HELD;
        if (usable) {
            log.debug("event=granted lock=\"{}\" owner={} token={}", name, ownerId, token);
        }
        return usable;
    }

    private boolean register() {
        try {
            boolean open = with.holders().add(this);
            renewed = validity.isValid() && with.keeper().hold(validity);
            boolean attached = open && renewed && validity.attach(this);
            if (holdUntil != null) {
                maxHold = with.clock().schedule(with.clock().until(holdUntil), this::checkDeadlines);
            }
            return attached;
        } catch (
                Throwable
                        e) { // no memory: without the discard that follows, the grant would be renewed until the close
            log.error("event=lease-not-registered lock=\"{}\" owner={}", name, ownerId, e);
            return false;
        }
    }

    /** Notifies the observers of the grant, and from now on of renewals and of the end. An end before this call is passed on. */
    public void observe(AcquireNotifier notifier) {
        notifier.granted(this, validity.validUntil());
        observers = notifier;
        accept(Plain.OBSERVED);
    }

    @Override
    public void extended() {
        if (state == LeaseState.Open.OBSERVED) {
            observers().renewed(validity.validUntil(), leaseDuration);
        }
    }

    private AcquireNotifier observers() {
        return Objects.requireNonNull(observers);
    }

    /** Ends a lease that is not delivered, and removes its grant from the store, unless a loss has already done so. */
    public void discard() {
        accept(Plain.DISCARD);
    }

    private LeaseState accept(LeaseEvent event) {
        LeaseState before;
        LeaseState.Step step;
        do {
            before = state;
            step = before.on(event);
        } while (!STATE.compareAndSet(this, before, step.state()));
        EffectPerformer.performAll(step.effects(), this::perform);
        return step.state();
    }

    private void perform(LeaseEffect effect) {
        if (effect == LeaseEffect.Plain.STOP_WATCHING) {
            stopWatching();
        } else if (effect == LeaseEffect.Plain.REMOVE_GRANT) {
            with.removals().remove(name, contender, leaseDuration);
        } else if (effect == LeaseEffect.Plain.LEAVE_CLIENT) {
            with.holders().remove(this);
        } else if (effect instanceof LeaseEffect.SendRelease send) {
            sendRelease(send.keptUntil());
        } else if (effect instanceof LeaseEffect.CompleteRelease complete) {
            released.complete(complete.outcome());
        } else if (effect instanceof LeaseEffect.NotifyReleased notify) {
            notifyReleased(notify);
        } else if (effect instanceof LeaseEffect.AnnounceLoss announce) {
            released.complete(ReleaseOutcome.LOST); // first: the callback may interrupt the body, which then releases
            with.callbacks().execute(() -> lost.complete(announce.reason()));
        } else if (effect instanceof LeaseEffect.LogLoss loss) {
            logLoss(loss.reason());
        } else if (effect instanceof LeaseEffect.NotifyLoss loss) {
            observers().lost(loss.reason());
        }
    }

    /** Records that the client no longer knows the lease. Called by {@link HeldLeases} under its monitor. */
    void leaveClient() {
        leftClient = true;
    }

    boolean hasLeftClient() {
        return leftClient;
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
        if (!with.capabilities().contains(Capability.FENCING)) {
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
        LeaseState now = state;
        if (now instanceof LeaseState.Lost loss) {
            return loss.reason();
        }
        if (now.isOpen()) {
            return validity.reason()
                    .orElseGet(() -> new LossReason(LossReason.Kind.EXPIRED, "the deadline has passed"));
        }
        return now instanceof LeaseState.Released done && done.outcome() == ReleaseOutcome.LOST
                ? LeaseState.FOUND_BY_RELEASE
                : new LossReason(LossReason.Kind.REMOVED, "the lease was released");
    }

    @Override
    public Duration remaining() {
        return hasEnded() ? Duration.ZERO : left();
    }

    /** Returns whether the lease was released, lost or discarded. Unlike {@link #isHeld}, does not compare the clock. */
    public boolean hasEnded() {
        return !state.isOpen();
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
        accept(new LeaseEvent.Loss(reason));
    }

    /** Logs the loss, and removes the grant that the store may still have. Has an effect only once, and only after a loss. */
    @Override
    public void afterLoss(LossReason announced) {
        accept(Plain.AFTER_LOSS);
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
        if (!with.capabilities().contains(Capability.DELAYED_RELEASE)) {
            throw new UnsupportedOperationException("this backend cannot keep a lock after its lease has ended: "
                    + "it does not offer " + Capability.DELAYED_RELEASE);
        }
        if (Durations.isPositive(delay)) {
            with.backend().checkReleaseDelay(delay);
        }
        return delay;
    }

    private CompletableFuture<ReleaseOutcome> outcomeForCaller() {
        if (released.isDone()) {
            return released.copy(); // nobody waits for it yet, so no callback needs the executor
        }
        CompletableFuture<ReleaseOutcome> result = new CompletableFuture<>();
        released.thenAccept(outcome -> with.callbacks().execute(() -> result.complete(outcome)));
        return result;
    }

    /** @param delay how long the store keeps the lock after this call; zero to remove the grant */
    private void beginRelease(Duration delay) {
        if (hasEnded()) {
            return;
        }
        MonotonicInstant now = with.clock().now();
        checkDeadlines(); // if the deadline has passed, this is a loss, even if the timer has not run yet
        accept(new LeaseEvent.Release(now, now.plus(delay)));
    }

    private void sendRelease(MonotonicInstant keptUntil) {
        try {
            remove(keptUntil, releaseBound());
        } catch (Throwable e) { // nothing else would end the waits for the outcome
            released(ReleaseOutcome.UNKNOWN);
            throw e;
        }
        log.debug("event=releasing lock=\"{}\" owner={} token={}", name, ownerId, token);
    }

    /** Limits the waits for the outcome. If no timer can be set, they end at once, and the removal is sent all the same. */
    private LockClock.Timer releaseBound() {
        try {
            return with.clock().schedule(with.requestTimeout(), () -> released(ReleaseOutcome.UNKNOWN));
        } catch (Throwable e) {
            released(ReleaseOutcome.UNKNOWN);
            return () -> {};
        }
    }

    private void remove(MonotonicInstant keptUntil, LockClock.Timer bound) {
        with.removals().removeAt(name, contender, leaseDuration, keptUntil, new PendingCleanup.Listener<Boolean>() {
            @Override
            public void completed(Boolean wasThere, boolean firstTry) {
                released(LeaseState.outcome(
                        wasThere, firstTry, endOfGrant(), with.clock().hasPassed(keptUntil)));
                bound.cancel();
            }

            @Override
            public void givenUp(Throwable last) {
                released(ReleaseOutcome.UNKNOWN);
                bound.cancel();
            }
        });
    }

    private LossReason.@Nullable Kind endOfGrant() {
        return validity.isValid()
                ? null
                : validity.reason().map(LossReason::kind).orElse(LossReason.Kind.EXPIRED);
    }

    private void released(ReleaseOutcome outcome) {
        accept(new LeaseEvent.ReleaseEnded(outcome));
    }

    /** A loss that a release found is reported as any other loss. */
    private void notifyReleased(LeaseEffect.NotifyReleased notify) {
        Duration heldFor = observers().heldUntil(notify.releasedAt());
        if (notify.outcome() == ReleaseOutcome.LOST) {
            observers().lost(LeaseState.FOUND_BY_RELEASE, heldFor);
        } else {
            observers().released(notify.outcome(), heldFor);
        }
    }

    private void checkDeadlines() {
        if (!validity.checkDeadline()) {
            validity.reason().ifPresent(this::loseAlone); // another thread may not have notified this lease yet
        } else if (holdUntil != null && with.clock().hasPassed(holdUntil)) {
            loseAlone(new LossReason(LossReason.Kind.MAX_HOLD, "held for the maximum time"));
        }
    }

    /** Stops renewals and timers of this lease. */
    private void stopWatching() {
        validity.detach(this);
        if (renewed) {
            with.keeper().unhold(validity);
        }
        if (maxHold != null) {
            maxHold.cancel();
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
