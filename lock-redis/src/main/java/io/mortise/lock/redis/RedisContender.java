// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to acquire a lock on Redis, from its first request until its withdrawal or the lock's release. While it
 * waits, it has an entry in the lock's queue in Redis. A release hands the lock off to the first entry and publishes a
 * message to its client. The core does not overlap calls; replies and messages arrive on the I/O thread.
 */
final class RedisContender implements Contender, ContenderRegistry.Owner {
    private static final Logger log = LoggerFactory.getLogger(RedisContender.class);

    /** The longest time between two requests of a waiter, in case a message was lost or a holder died. */
    static final Duration FALLBACK = Duration.ofSeconds(5);

    /** The time for which a queue entry is kept without another request: three fallback times with the core's jitter. */
    static final Duration ENTRY_LIFETIME = Duration.ofSeconds(20);

    /**
     * The number of tries of a late request: the server's clock may have been set forward, and each reply contains its time.
     */
    private static final int MOST_ROUNDS = 3;

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
    private final HandOffValidityCalculator handedOff = new HandOffValidityCalculator();
    private volatile boolean mayHaveOrphan; // the server may have a grant or a queue entry of this attempt
    private volatile boolean granted;
    private volatile boolean abandoned;
    private volatile @Nullable RedisNodeClient lastNode;

    RedisContender(RedisBackend backend, LockRequest request, ContenderListener waiter) {
        this.backend = backend;
        this.context = backend.context();
        this.request = request;
        this.waiter = waiter;
        this.keys = backend.keys().of(request.name());
        this.record = request.ownerRecord() + backend.mark(); // its start time stays the same for all requests (S18)
        this.nonce = request.mayWait() ? backend.signer().nonce(request.attemptId()) : "";
        this.removal = new AttemptRemoval(
                context, request, this::node, RedisLockScript.RELEASE.script(), keys.all(), withTime ->
                        new String[] {request.attemptId(), withTime ? "1" : "0"});
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        Optional<HandOffValidityCalculator.Grant> collected = handedOff
                .collect(node(), request.leaseDuration(), context.clock().now())
                .flatMap(grant ->
                        backend.confirmation().bounded(grant, node(), request.leaseDuration(), context.clock()));
        if (collected.isPresent()) {
            return CompletableFuture.completedFuture(
                    grant(collected.get().token(), collected.get().validUntil()));
        }
        if (request.mayWait()) {
            backend.contenders().add(request.attemptId(), this); // before sending: a message may arrive with the reply
        }
        CompletableFuture<AttemptResult> result = new CompletableFuture<>();
        sendWhenOpen(result, MOST_ROUNDS);
        return result;
    }

    private AttemptResult.Granted grant(long token, MonotonicInstant validUntil) {
        granted = true;
        return new AttemptResult.Granted(
                token,
                new RedisGrantValidity(
                        context.clock(), keys, request.attemptId(), request.leaseDuration(), validUntil));
    }

    private void sendWhenOpen(CompletableFuture<AttemptResult> result, int rounds) {
        RedisNodeClient node = node();
        if (node.isOpen()) {
            send(result, rounds, node);
        } else {
            node.whenOpen(failure -> send(result, rounds, node));
        }
    }

    private void send(CompletableFuture<AttemptResult> result, int rounds, RedisNodeClient node) {
        lastNode = node;
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
        mayHaveOrphan = true;
        backend.confirmation().prepare(node, request.leaseDuration());
        node.run(RedisLockScript.ACQUIRE.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                handleReply(result, rounds, node, now, values);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    removal.onInDoubt(epoch, notAfter);
                }
                result.completeExceptionally(RedisErrors.of(cause, acquire(), backend.endpoints()));
            }
        });
    }

    private void handleReply(
            CompletableFuture<AttemptResult> result,
            int rounds,
            RedisNodeClient node,
            MonotonicInstant sent,
            List<Object> values) {
        ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
        node.serverClock().onReply(sent, time);
        removal.onReply(node.epoch(), time);
        boolean tokenOnly = values.size() == 1; // the token is the server's time then
        switch (tokenOnly ? "granted" : (String) values.get(0)) {
            case "granted" -> {
                long token = tokenOnly ? time.micros() : (Long) values.get(1);
                if (!isPlausible(token)) {
                    refuse(result, token);
                } else if (backend.confirmation().isUnneeded(node)) {
                    result.complete(grant(token, LockClock.deadline(sent, request.leaseDuration())));
                } else {
                    confirm(result, node, sent, token);
                }
            }
            case "busy" -> {
                handedOff.onBusy(node.epoch(), sent, time);
                mayHaveOrphan = request.mayWait() || removal.mayStillExecute();
                result.complete(new AttemptResult.Waiting(untilNext((Long) values.get(1))));
            }
            default -> {
                if (rounds > 1) {
                    sendWhenOpen(result, rounds - 1);
                } else {
                    result.completeExceptionally(new BackendUnavailableException(
                            acquire() + " at " + backend.endpoints() + ": the request arrived too late " + MOST_ROUNDS
                                    + " times, or the server's clock jumps"));
                }
            }
        }
    }

    /** Returns whether this can be a token: another writer may have set the counter to any value (S19). */
    static boolean isPlausible(long token) {
        return token > 0 && token < TOO_HIGH;
    }

    /** Releases a grant whose token is out of range: a resource that has seen such a token would never accept another. */
    private void refuse(CompletableFuture<AttemptResult> result, long token) {
        BackendRefusedException why = new BackendRefusedException(acquire() + " at " + backend.endpoints()
                + ": the fencing token " + token + " is out of range: something else wrote to \"" + keys.counter()
                + "\" or \"" + keys.grant() + "\"; find out what, then delete them");
        removal.release(found -> result.completeExceptionally(why), failure -> result.completeExceptionally(why));
    }

    /** Completes with the grant once replicas and sentinels have confirmed it; otherwise releases it. */
    private void confirm(
            CompletableFuture<AttemptResult> result, RedisNodeClient node, MonotonicInstant sent, long token) {
        MonotonicInstant until = sent.plus(Durations.divide(context.requestTimeout(), 2)); // the rest is for a release
        backend.confirmation().check(node, sent, until, request.leaseDuration(), (countsFrom, failure) -> {
            if (failure == null) {
                result.complete(grant(token, LockClock.deadline(countsFrom, request.leaseDuration())));
            } else {
                removal.release(
                        found -> result.completeExceptionally(failure), cause -> result.completeExceptionally(failure));
            }
        });
    }

    /** Returns the time until the next request, at the latest when the present holder's grant expires, in case it died. */
    private static Duration untilNext(long remainingMillis) {
        return remainingMillis < 0 || remainingMillis >= FALLBACK.toMillis()
                ? FALLBACK
                : Duration.ofMillis(remainingMillis + 1);
    }

    /** Receives the message that the lock was handed off to this attempt. Called on the I/O thread. */
    void onHandOff(GrantMessage.Granted grant, int epoch) {
        handedOff.onHandOff(grant, epoch, context.clock().now());
        wake();
    }

    /** Returns whether this attempt waits for a message from that server. */
    boolean waitsAt(RedisNodeClient node) {
        return !granted && lastNode == node;
    }

    /** Returns whether this attempt waits at a server that no longer has its lock. */
    boolean isMisplaced() {
        return !granted && lastNode != null && lastNode != node();
    }

    /** Makes the waiter retry: it may be first in the queue by now, or a message may have been lost. */
    @Override
    public void wake() {
        if (abandoned) {
            withdrawAbandoned();
        } else {
            waiter.wake();
        }
    }

    /** Withdraws an abandoned attempt that was still queued when the server came back, so that the next waiter is served. */
    private void withdrawAbandoned() {
        removal.end(
                found -> backend.contenders().remove(request.attemptId()),
                failure -> log.debug("event=queue-entry-left lock=\"{}\"", request.name(), failure));
    }

    @Override
    public CompletionStage<Boolean> end() {
        if (!mayHaveOrphan) {
            return CompletableFuture.completedFuture(false);
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        removal.end(
                found -> {
                    backend.contenders().remove(request.attemptId());
                    done.complete(found.held() || (found.queued() && !granted));
                },
                done::completeExceptionally);
        return done;
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        RedisNodeClient node = node();
        String[] args = {
            request.attemptId(), String.valueOf(Durations.roundUpToMillis(delay).toMillis())
        };
        node.run(RedisLockScript.RELEASE_AFTER.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                removal.onReply(node.epoch(), new ServerTime((Long) values.get(1)));
                boolean kept = values.get(0).equals(1L);
                if (kept && removal.mayStillExecute()) { // it would set the expiry to the lease again
                    done.completeExceptionally(
                            new BackendUnavailableException(what() + ": an earlier request may still be executed"));
                    return;
                }
                backend.contenders().remove(request.attemptId());
                done.complete(kept);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                done.completeExceptionally(RedisErrors.of(cause, what(), backend.endpoints()));
            }

            private String what() {
                return "delayed release of lock \"" + request.name() + "\"";
            }
        });
        return done;
    }

    /** Lets the grant and the queue entry expire; a message that arrives before then triggers a withdrawal. */
    @Override
    public void abandon() {
        abandoned = true;
        context.clock().schedule(ENTRY_LIFETIME, () -> backend.contenders().remove(request.attemptId()));
    }

    private RedisNodeClient node() {
        return backend.connections().nodeOf(keys);
    }

    private String acquire() {
        return "acquire of lock \"" + request.name() + "\"";
    }
}
