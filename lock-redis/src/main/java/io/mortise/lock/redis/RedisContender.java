// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.RedisContenderEffect.CheckHandOff;
import io.mortise.lock.redis.RedisContenderEffect.Confirm;
import io.mortise.lock.redis.RedisContenderEffect.FailAttempt;
import io.mortise.lock.redis.RedisContenderEffect.FailCleanup;
import io.mortise.lock.redis.RedisContenderEffect.FailEnd;
import io.mortise.lock.redis.RedisContenderEffect.Plain;
import io.mortise.lock.redis.RedisContenderEffect.ReportBusy;
import io.mortise.lock.redis.RedisContenderEffect.ReportEnded;
import io.mortise.lock.redis.RedisContenderEffect.ReportGranted;
import io.mortise.lock.redis.RedisContenderEffect.SendDelayedRelease;
import io.mortise.lock.redis.RedisContenderEffect.SendRemoval;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.Confirmed;
import io.mortise.lock.redis.RedisContenderEvent.DelayFailed;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUsable;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderEvent.NotConfirmed;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.SerialMachine;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a lock on Redis, from its first request until its withdrawal or the lock's release.
 * {@link RedisContenderState} decides what to do: calls, replies and messages are its events, and this class performs its
 * effects. The core does not overlap calls; replies and messages arrive on the I/O thread.
 */
final class RedisContender implements Contender, ContenderRegistry.Owner {
    /** The longest time between two requests of a waiter, in case a message was lost or a holder died. */
    static final Duration FALLBACK = Duration.ofSeconds(5);

    private final RedisBackend backend;
    private final BackendContext context;
    private final LockRequest request;
    private final ContenderListener waiter;
    private final RedisKeyLayout.OfLock keys;
    private final SerialMachine<RedisContenderState, RedisContenderEvent, RedisContenderEffect> machine =
            new SerialMachine<>(RedisContenderState.INITIAL, RedisContenderState::on, this::perform, this::failed);
    private final RedisContenderRequests requests;

    /** The future that the present call of the core has returned; in {@code cleanup}, that of the present try of the cleanup. */
    private CompletableFuture<AttemptResult> attempt = new CompletableFuture<>();

    private CompletableFuture<Boolean> end = new CompletableFuture<>();
    private CompletableFuture<Boolean> cleanup = new CompletableFuture<>();

    /** The server to which the last acquire was sent; null before, and once the lock is granted. */
    private volatile @Nullable RedisNodeClient waitsAt;

    RedisContender(RedisBackend backend, LockRequest request, ContenderListener waiter) {
        this.backend = backend;
        this.context = backend.context();
        this.request = request;
        this.waiter = waiter;
        this.keys = backend.keys().of(request.name());
        this.requests = new RedisContenderRequests(backend, request, keys, machine);
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        CompletableFuture<AttemptResult> result = new CompletableFuture<>();
        attempt = result;
        machine.accept(new Attempt(node().epoch()));
        return result;
    }

    @Override
    public CompletionStage<Boolean> end() {
        return end(new RedisContenderEvent.End());
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        return end(new RedisContenderEvent.EndAfter(delay));
    }

    private CompletionStage<Boolean> end(RedisContenderEvent call) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        end = result;
        machine.accept(call);
        return result;
    }

    @Override
    public void abandon() {
        machine.accept(new RedisContenderEvent.Abandon());
    }

    /** Receives the message that the lock was handed off to this attempt. Called on the I/O thread. */
    void onHandOff(GrantMessage.Granted grant, int epoch) {
        if (RedisContenderRequests.isPlausible(grant.token())) {
            machine.accept(new HandedOff(
                    epoch, grant.token(), grant.time(), context.clock().now()));
        } else {
            wake(); // the next request refuses the token
        }
    }

    /** Makes the waiter retry: it may be first in the queue by now, or a message may have been lost. */
    @Override
    public void wake() {
        machine.accept(new RedisContenderEvent.Woken());
    }

    /** Returns whether this attempt waits for a message from that server. */
    boolean waitsAt(RedisNodeClient node) {
        return waitsAt == node;
    }

    /** Returns whether this attempt waits at a server that no longer has its lock. */
    boolean isMisplaced() {
        RedisNodeClient node = waitsAt;
        return node != null && node != node();
    }

    /** Returns the event for an effect that could not be performed. */
    @Nullable
    RedisContenderEvent failed(RedisContenderEffect effect, Throwable failure) {
        LockException cause = requests.failure(failure, requests.what("request"));
        if (effect instanceof Confirm) {
            return new NotConfirmed(cause);
        } else if (effect instanceof CheckHandOff) {
            return new HandOffUnusable();
        } else if (effect == Plain.SEND_ACQUIRE) {
            return acquireFailed(failure);
        } else if (effect instanceof SendRemoval) {
            return new RemovalFailed(isNotSent(failure), cause);
        } else if (effect instanceof SendDelayedRelease) {
            return new DelayFailed(cause);
        }
        return null;
    }

    private void perform(RedisContenderEffect effect) {
        if (effect instanceof Plain plain) {
            perform(plain);
        } else if (effect instanceof CheckHandOff check) {
            checkHandOff(check);
        } else if (effect instanceof Confirm confirm) {
            confirm(confirm);
        } else if (effect instanceof ReportGranted granted) {
            reportGranted(granted);
        } else if (effect instanceof ReportBusy busy) {
            machine.complete(attempt, new AttemptResult.Waiting(untilNext(busy.remainingMillis())));
        } else if (effect instanceof FailAttempt failure) {
            machine.fail(attempt, failure.cause());
        } else if (effect instanceof SendRemoval send) {
            requests.remove(node(), send.withTime());
        } else if (effect instanceof SendDelayedRelease send) {
            requests.releaseAfter(node(), send);
        } else if (effect instanceof ReportEnded ended) {
            machine.complete(end, ended.existed());
        } else if (effect instanceof FailEnd failure) {
            machine.fail(end, failure.cause());
        } else if (effect instanceof FailCleanup failure) {
            machine.fail(cleanup, failure.cause());
        }
    }

    private void perform(Plain effect) {
        switch (effect) {
            case SEND_ACQUIRE -> sendAcquire();
            case FAIL_LATE_ATTEMPT ->
                machine.fail(
                        attempt,
                        unavailable(requests.what("acquire") + " at " + backend.endpoints()
                                + ": the request arrived too late " + RedisContenderState.MOST_TRIES
                                + " times, or the server's clock jumps"));
            case REPORT_DISPLACED ->
                machine.complete(attempt, new AttemptResult.Displaced("a removal of its grant may still be executed"));
            case WAKE_WAITER -> machine.afterwards(waiter::wake);
            case UNREGISTER -> backend.contenders().remove(request.attemptId());
            case START_CLEANUP -> startCleanup();
            case COMPLETE_CLEANUP -> machine.complete(cleanup, true);
            case REPEAT_CLEANUP -> machine.fail(cleanup, unavailable("a request may still be executed"));
            case AWAIT_EXPIRY ->
                context.clock()
                        .schedule(
                                RedisContenderRequests.ENTRY_LIFETIME,
                                () -> machine.accept(new RedisContenderEvent.Expired()));
        }
    }

    private static BackendUnavailableException unavailable(String message) {
        return new BackendUnavailableException(message);
    }

    private void sendAcquire() {
        if (request.mayWait()) {
            backend.contenders().add(request.attemptId(), this); // before sending: a message may arrive with the reply
        }
        RedisNodeClient node = node();
        if (node.isOpen()) {
            sendAcquire(node);
        } else {
            node.whenOpen(failure -> sendAcquire(node));
        }
    }

    private void sendAcquire(RedisNodeClient node) {
        waitsAt = node; // not before it is open, because the first subscription wakes all who wait there
        try {
            requests.acquire(node);
        } catch (RuntimeException | Error e) {
            machine.accept(acquireFailed(e));
        }
    }

    /** Returns whether a request that threw certainly was not sent; after an error nobody knows. */
    private static boolean isNotSent(Throwable failure) {
        return !(failure instanceof Error);
    }

    private AcquireFailed acquireFailed(Throwable failure) {
        LockException cause = requests.failure(failure, requests.what("acquire"));
        RedisNodeClient node = waitsAt;
        int epoch = node == null ? 0 : node.epoch();
        return new AcquireFailed(isNotSent(failure), epoch, new ServerTime(Long.MAX_VALUE), cause);
    }

    private void reportGranted(ReportGranted granted) {
        waitsAt = null;
        RedisGrantValidity validity = new RedisGrantValidity(
                context.clock(), keys, request.attemptId(), request.leaseDuration(), granted.validUntil());
        machine.complete(attempt, new AttemptResult.Granted(granted.token(), validity));
    }

    private void checkHandOff(CheckHandOff check) {
        MonotonicInstant now = context.clock().now();
        Optional<MonotonicInstant> validUntil = HandOffValidityCalculator.validUntil(
                        check.queued(), check.handOff(), request.leaseDuration(), now)
                .flatMap(deadline -> backend.confirmation()
                        .bounded(deadline, node(), check.queued().epoch(), request.leaseDuration(), now));
        machine.accept(validUntil.isPresent() ? new HandOffUsable(validUntil.get()) : new HandOffUnusable());
    }

    /** Has replicas and sentinels confirm the grant that the server of the last acquire has acknowledged. */
    private void confirm(Confirm grant) {
        RedisNodeClient node = Objects.requireNonNull(waitsAt);
        MonotonicInstant sent = grant.sent();
        MonotonicInstant until = sent.plus(Durations.divide(context.requestTimeout(), 2)); // the rest is for a release
        backend.confirmation()
                .check(node, grant.epoch(), sent, until, request.leaseDuration(), (countsFrom, failure) -> {
                    MonotonicInstant validUntil = LockClock.deadline(countsFrom, request.leaseDuration());
                    machine.accept(failure == null ? new Confirmed(validUntil) : new NotConfirmed(failure));
                });
    }

    /** Returns the time until the next request, at the latest when the present holder's grant expires, in case it died. */
    private static Duration untilNext(long remainingMillis) {
        return remainingMillis < 0 || remainingMillis >= FALLBACK.toMillis()
                ? FALLBACK
                : Duration.ofMillis(remainingMillis + 1);
    }

    /**
     * Repeats the removal for one lease, and at least for twice the time after which the script refuses a late acquire, because
     * the server's time is only an estimate.
     */
    private void startCleanup() {
        Duration twoTimeouts = node().requestTimeout().multipliedBy(2);
        context.cleanUp(
                "a request for lock \"" + request.name() + "\" without a reply, which may still be executed",
                () -> {
                    CompletableFuture<Boolean> result = new CompletableFuture<>();
                    cleanup = result;
                    machine.accept(new RedisContenderEvent.CleanupDue());
                    return result;
                },
                context.clock().now().plus(Durations.longer(request.leaseDuration(), twoTimeouts)));
    }

    private RedisNodeClient node() {
        return backend.connections().nodeOf(keys);
    }
}
