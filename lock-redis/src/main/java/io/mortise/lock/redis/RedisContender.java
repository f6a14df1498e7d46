// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendRefusedException;
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
import io.mortise.lock.redis.RedisContenderEvent.Abandon;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Attempt;
import io.mortise.lock.redis.RedisContenderEvent.Busy;
import io.mortise.lock.redis.RedisContenderEvent.CleanupDue;
import io.mortise.lock.redis.RedisContenderEvent.Confirmed;
import io.mortise.lock.redis.RedisContenderEvent.DelayFailed;
import io.mortise.lock.redis.RedisContenderEvent.Delayed;
import io.mortise.lock.redis.RedisContenderEvent.End;
import io.mortise.lock.redis.RedisContenderEvent.EndAfter;
import io.mortise.lock.redis.RedisContenderEvent.Expired;
import io.mortise.lock.redis.RedisContenderEvent.Granted;
import io.mortise.lock.redis.RedisContenderEvent.GrantedUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUnusable;
import io.mortise.lock.redis.RedisContenderEvent.HandOffUsable;
import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderEvent.Late;
import io.mortise.lock.redis.RedisContenderEvent.NotConfirmed;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.RedisContenderEvent.Removed;
import io.mortise.lock.redis.RedisContenderEvent.Reply;
import io.mortise.lock.redis.RedisContenderEvent.Woken;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a lock on Redis, from its first request until its withdrawal or the lock's release. While it
 * waits, it has an entry in the lock's queue in Redis. A release hands the lock off to the first entry and publishes a
 * message to its client.
 *
 * <p>{@link RedisContenderState} decides what to do. This class turns calls, replies and messages into its events, and performs
 * its effects. The core does not overlap calls; replies and messages arrive on the I/O thread.
 */
final class RedisContender implements Contender, ContenderRegistry.Owner {
    /** The longest time between two requests of a waiter, in case a message was lost or a holder died. */
    static final Duration FALLBACK = Duration.ofSeconds(5);

    /** The time for which a queue entry is kept without another request: three fallback times with the core's jitter. */
    static final Duration ENTRY_LIFETIME = Duration.ofSeconds(20);

    /** From here on Lua and many resources cannot distinguish a token from the next. The clock reaches it in the year 2255. */
    private static final long TOO_HIGH = 1L << 53;

    private final RedisBackend backend;
    private final BackendContext context;
    private final LockRequest request;
    private final ContenderListener waiter;
    private final RedisKeyLayout.OfLock keys;
    private final String record;
    private final String nonce;
    private final AttemptRemoval removal;
    private final SerialMachine<RedisContenderState, RedisContenderEvent, RedisContenderEffect> machine =
            new SerialMachine<>(RedisContenderState.INITIAL, RedisContenderState::on, this::perform);

    // What the present call of the core, or try of the cleanup, returned.
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
        this.record = request.ownerRecord() + backend.mark(); // its start time stays the same for all requests (S18)
        this.nonce = request.mayWait() ? backend.signer().nonce(request.attemptId()) : "";
        this.removal = new AttemptRemoval(request, RedisLockScript.RELEASE.script(), keys.all());
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
        return end(new End());
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        return end(new EndAfter(delay));
    }

    private CompletionStage<Boolean> end(RedisContenderEvent call) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        end = result;
        machine.accept(call);
        return result;
    }

    @Override
    public void abandon() {
        machine.accept(new Abandon());
    }

    /** Receives the message that the lock was handed off to this attempt. Called on the I/O thread. */
    void onHandOff(GrantMessage.Granted grant, int epoch) {
        machine.accept(
                isPlausible(grant.token())
                        ? new HandedOff(
                                epoch,
                                grant.token(),
                                grant.time(),
                                context.clock().now())
                        : new Woken()); // the next request refuses the token
    }

    /** Makes the waiter retry: it may be first in the queue by now, or a message may have been lost. */
    @Override
    public void wake() {
        machine.accept(new Woken());
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

    /** Performs an effect. If that fails at once, the core must not wait for what the effect was to lead to. */
    private void perform(RedisContenderEffect effect) {
        try {
            dispatch(effect);
        } catch (RuntimeException e) {
            LockException cause = RedisErrors.of(e, "request for lock \"" + request.name() + "\"", backend.endpoints());
            if (effect == Plain.SEND_ACQUIRE) {
                machine.accept(new AcquireFailed(true, 0, ServerTime.UNKNOWN, cause)); // it has not been sent
            } else if (effect instanceof Confirm) {
                machine.accept(new NotConfirmed(cause));
            } else if (effect instanceof SendRemoval) {
                machine.accept(new RemovalFailed(cause));
            } else if (effect instanceof SendDelayedRelease) {
                machine.accept(new DelayFailed(cause));
            } else {
                throw e;
            }
        }
    }

    private void dispatch(RedisContenderEffect effect) {
        if (effect instanceof Plain plain) {
            dispatch(plain);
        } else if (effect instanceof CheckHandOff check) {
            checkHandOff(check);
        } else if (effect instanceof Confirm confirm) {
            confirm(confirm.sent());
        } else if (effect instanceof ReportGranted granted) {
            waitsAt = null;
            attempt.complete(new AttemptResult.Granted(
                    granted.token(),
                    new RedisGrantValidity(
                            context.clock(),
                            keys,
                            request.attemptId(),
                            request.leaseDuration(),
                            granted.validUntil())));
        } else if (effect instanceof ReportBusy busy) {
            attempt.complete(new AttemptResult.Waiting(untilNext(busy.remainingMillis())));
        } else if (effect instanceof FailAttempt failure) {
            attempt.completeExceptionally(failure.cause());
        } else if (effect instanceof SendRemoval send) {
            sendRemoval(send.withTime());
        } else if (effect instanceof SendDelayedRelease send) {
            sendDelayedRelease(send.delay());
        } else if (effect instanceof ReportEnded ended) {
            end.complete(ended.existed());
        } else if (effect instanceof FailEnd failure) {
            end.completeExceptionally(failure.cause());
        } else if (effect instanceof FailCleanup failure) {
            cleanup.completeExceptionally(failure.cause());
        }
    }

    private void dispatch(Plain effect) {
        switch (effect) {
            case SEND_ACQUIRE -> sendAcquireWhenOpen();
            case FAIL_LATE_ATTEMPT ->
                attempt.completeExceptionally(new BackendUnavailableException(
                        acquire() + " at " + backend.endpoints() + ": the request arrived too late "
                                + RedisContenderState.MOST_TRIES + " times, or the server's clock jumps"));
            case WAKE_WAITER -> waiter.wake();
            case FAIL_DELAY_IN_DOUBT ->
                end.completeExceptionally(new BackendUnavailableException(
                        delayedRelease() + ": an earlier request may still be executed"));
            case UNREGISTER -> backend.contenders().remove(request.attemptId());
            case START_CLEANUP -> startCleanup();
            case COMPLETE_CLEANUP -> cleanup.complete(true);
            case REPEAT_CLEANUP ->
                cleanup.completeExceptionally(new BackendUnavailableException("a request may still be executed"));
            case AWAIT_EXPIRY -> context.clock().schedule(ENTRY_LIFETIME, () -> machine.accept(new Expired()));
        }
    }

    private void sendAcquireWhenOpen() {
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
        waitsAt = node;
        MonotonicInstant now = context.clock().now();
        int epoch = node.epoch();
        ServerTime notAfter = node.notAfter(now);
        String[] args = {
            request.attemptId(),
            record,
            String.valueOf(request.leaseDuration().toMillis()),
            String.valueOf(notAfter.micros()),
            request.mayWait() ? backend.connections().listen(node, keys) : "",
            String.valueOf(ENTRY_LIFETIME.toMillis()),
            nonce
        };
        backend.confirmation().prepare(node, request.leaseDuration());
        node.run(RedisLockScript.ACQUIRE.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                Reply reply = acquireReply(node, now, values);
                node.serverClock().onReply(now, reply.time());
                machine.accept(reply);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                machine.accept(new AcquireFailed(
                        notExecuted, epoch, notAfter, RedisErrors.of(cause, acquire(), backend.endpoints())));
            }
        });
    }

    private Reply acquireReply(RedisNodeClient node, MonotonicInstant sent, List<Object> values) {
        ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
        boolean tokenOnly = values.size() == 1; // the token is the server's time then
        return switch (tokenOnly ? "granted" : (String) values.get(0)) {
            case "granted" -> granted(node, time, tokenOnly ? time.micros() : (Long) values.get(1), sent);
            case "busy" -> new Busy(node.epoch(), time, sent, request.mayWait(), (Long) values.get(1));
            default -> new Late(node.epoch(), time);
        };
    }

    private Reply granted(RedisNodeClient node, ServerTime time, long token, MonotonicInstant sent) {
        if (isPlausible(token)) {
            return new Granted(
                    node.epoch(),
                    time,
                    token,
                    sent,
                    LockClock.deadline(sent, request.leaseDuration()),
                    !backend.confirmation().isUnneeded(node));
        }
        // A resource that has seen such a token would never accept another.
        return new GrantedUnusable(
                node.epoch(),
                time,
                new BackendRefusedException(acquire() + " at " + backend.endpoints() + ": the fencing token " + token
                        + " is out of range: something else wrote to \"" + keys.counter() + "\" or \"" + keys.grant()
                        + "\"; find out what, then delete them"));
    }

    /** Returns whether this can be a token: another writer may have set the counter to any value (S19). */
    static boolean isPlausible(long token) {
        return token > 0 && token < TOO_HIGH;
    }

    private void checkHandOff(CheckHandOff check) {
        MonotonicInstant now = context.clock().now();
        Optional<MonotonicInstant> validUntil = HandOffValidityCalculator.validUntil(
                        check.queued(), check.handOff(), request.leaseDuration(), now)
                .flatMap(deadline -> backend.confirmation().bounded(deadline, node(), request.leaseDuration(), now));
        machine.accept(validUntil.isPresent() ? new HandOffUsable(validUntil.get()) : new HandOffUnusable());
    }

    /** Has replicas and sentinels confirm the grant that the server of the last acquire has acknowledged. */
    private void confirm(MonotonicInstant sent) {
        RedisNodeClient node = waitsAt;
        if (node == null) {
            throw new IllegalStateException("no acquire was sent");
        }
        MonotonicInstant until = sent.plus(Durations.divide(context.requestTimeout(), 2)); // the rest is for a release
        backend.confirmation()
                .check(
                        node,
                        sent,
                        until,
                        request.leaseDuration(),
                        (countsFrom, failure) -> machine.accept(
                                failure == null
                                        ? new Confirmed(LockClock.deadline(countsFrom, request.leaseDuration()))
                                        : new NotConfirmed(failure)));
    }

    /** Returns the time until the next request, at the latest when the present holder's grant expires, in case it died. */
    private static Duration untilNext(long remainingMillis) {
        return remainingMillis < 0 || remainingMillis >= FALLBACK.toMillis()
                ? FALLBACK
                : Duration.ofMillis(remainingMillis + 1);
    }

    private void sendRemoval(boolean withTime) {
        removal.send(node(), withTime, new AttemptRemoval.Handler() {
            @Override
            public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {
                machine.accept(new Removed(epoch, time, held, queued));
            }

            @Override
            public void onFailure(LockException cause) {
                machine.accept(new RemovalFailed(cause));
            }
        });
    }

    private void sendDelayedRelease(Duration delay) {
        RedisNodeClient node = node();
        String[] args = {
            request.attemptId(), String.valueOf(Durations.roundUpToMillis(delay).toMillis())
        };
        node.run(RedisLockScript.RELEASE_AFTER.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                machine.accept(new Delayed(
                        node.epoch(),
                        new ServerTime((Long) values.get(1)),
                        values.get(0).equals(1L)));
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                machine.accept(new DelayFailed(RedisErrors.of(cause, delayedRelease(), backend.endpoints())));
            }
        });
    }

    /**
     * Repeats the removal for one lease, and at least for twice the time after which the script refuses a late acquire, because
     * the server's time is only an estimate.
     */
    private void startCleanup() {
        Duration atMost = Durations.longer(
                request.leaseDuration(), node().requestTimeout().multipliedBy(2));
        context.cleanUp(
                "a request for lock \"" + request.name() + "\" without a reply, which may still be executed",
                () -> {
                    CompletableFuture<Boolean> result = new CompletableFuture<>();
                    cleanup = result;
                    machine.accept(new CleanupDue());
                    return result;
                },
                context.clock().now().plus(atMost));
    }

    private RedisNodeClient node() {
        return backend.connections().nodeOf(keys);
    }

    private String acquire() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    private String delayedRelease() {
        return "delayed release of lock \"" + request.name() + "\"";
    }
}
