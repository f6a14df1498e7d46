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
import io.mortise.lock.spi.MonotonicTime;
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
 * One contender: an entry in the lock's queue in Redis. Whoever releases hands the lock on to the first entry, and publishes
 * that to the client that waits there. The core does not overlap calls; answers and messages come on the I/O thread.
 */
final class RedisContender implements Contender, ContenderRegistry.Owner {
    private static final Logger log = LoggerFactory.getLogger(RedisContender.class);

    /** How often a waiter asks at least, in case a message was lost; also how it notices that a holder died. */
    static final Duration FALLBACK = Duration.ofSeconds(5);

    /** How long a queue entry is kept without being asked for again: three fallbacks, with the core's jitter. */
    static final Duration PLACE_STANDS = Duration.ofSeconds(20);

    /** The server's clock may have been set forward since it was last heard: one answer tells by how much. */
    private static final int MOST_ROUNDS = 3;

    /** From here on Lua's numbers, and many a resource's, do not tell a token from the next. By the clock it is the year 2255. */
    private static final long TOO_HIGH = 1L << 53;

    private final RedisBackend backend;
    private final BackendContext context;
    private final LockRequest request;
    private final ContenderListener waiter;
    private final RedisKeyLayout.OfLock keys;
    private final String record;
    private final String nonce;
    private final AttemptRemoval removal;
    private final HandOffDeadlineCalculator handedOff = new HandOffDeadlineCalculator();
    private volatile boolean leaves; // something may be in the store
    private volatile boolean granted;
    private volatile boolean abandoned;
    private volatile @Nullable RedisNodeClient asked;

    RedisContender(RedisBackend backend, LockRequest request, ContenderListener waiter) {
        this.backend = backend;
        this.context = backend.context();
        this.request = request;
        this.waiter = waiter;
        this.keys = backend.keys().of(request.name());
        this.record = request.ownerRecord() + backend.mark(); // since when it asked, however often it asks (S18)
        this.nonce = request.mayWait() ? backend.signer().nonce(request.attemptId()) : "";
        this.removal =
                new AttemptRemoval(context, request, this::node, RedisScript.RELEASE.script(), keys.all(), timeWanted ->
                        new String[] {request.attemptId(), timeWanted ? "1" : "0"});
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        Optional<HandOffDeadlineCalculator.Grant> collected = handedOff
                .collect(node(), request.leaseDuration(), context.clock().now())
                .flatMap(
                        grant -> backend.grantCheck().bounded(grant, node(), request.leaseDuration(), context.clock()));
        if (collected.isPresent()) {
            return CompletableFuture.completedFuture(
                    grant(collected.get().token(), collected.get().validUntil()));
        }
        if (request.mayWait()) {
            backend.mailbox().add(request.attemptId(), this); // before it is sent: a message may come with the answer
        }
        CompletableFuture<AttemptResult> answer = new CompletableFuture<>();
        ask(answer, MOST_ROUNDS);
        return answer;
    }

    private AttemptResult.Granted grant(long token, MonotonicTime validUntil) {
        granted = true;
        return new AttemptResult.Granted(
                token,
                new RedisGrantValidity(
                        context.clock(), keys, request.attemptId(), request.leaseDuration(), validUntil));
    }

    private void ask(CompletableFuture<AttemptResult> answer, int rounds) {
        RedisNodeClient node = node();
        if (node.isOpen()) {
            ask(answer, rounds, node);
        } else {
            node.whenOpen(failure -> ask(answer, rounds, node));
        }
    }

    private void ask(CompletableFuture<AttemptResult> answer, int rounds, RedisNodeClient node) {
        asked = node;
        MonotonicTime now = context.clock().now();
        int epoch = node.epoch();
        ServerTime notAfter = node.notAfter(now);
        String[] args = {
            request.attemptId(),
            record,
            String.valueOf(request.leaseDuration().toMillis()),
            String.valueOf(notAfter.micros()),
            request.mayWait() ? backend.link().listen(node, keys) : "",
            String.valueOf(PLACE_STANDS.toMillis()),
            nonce
        };
        leaves = true;
        backend.grantCheck().prepare(node, request.leaseDuration());
        node.run(RedisScript.ACQUIRE.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                RedisContender.this.answered(answer, rounds, node, now, values);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    removal.unanswered(epoch, notAfter);
                }
                answer.completeExceptionally(RedisErrors.of(cause, acquire(), backend.endpoints()));
            }
        });
    }

    private void answered(
            CompletableFuture<AttemptResult> answer,
            int rounds,
            RedisNodeClient node,
            MonotonicTime sent,
            List<Object> values) {
        ServerTime time = new ServerTime((Long) values.get(values.size() - 1));
        node.time().heard(sent, time);
        removal.answered(node.epoch(), time);
        boolean alone = values.size() == 1; // the time, which is the token as well
        switch (alone ? "granted" : (String) values.get(0)) {
            case "granted" -> {
                long token = alone ? time.micros() : (Long) values.get(1);
                if (!isPlausible(token)) {
                    refuse(answer, token);
                } else if (backend.grantCheck().isNone(node)) {
                    answer.complete(grant(token, LockClock.deadline(sent, request.leaseDuration())));
                } else {
                    check(answer, node, sent, token);
                }
            }
            case "busy" -> {
                handedOff.confirmed(node.epoch(), sent, time);
                leaves = request.mayWait() || removal.mayYetExecute();
                answer.complete(new AttemptResult.Waiting(untilNext((Long) values.get(1))));
            }
            default -> {
                if (rounds > 1) {
                    ask(answer, rounds - 1);
                } else {
                    answer.completeExceptionally(new BackendUnavailableException(acquire() + " at "
                            + backend.endpoints() + ": it arrived too late each time, or the server's clock jumps"));
                }
            }
        }
    }

    /** Whether it can be a token: whoever writes to the store may have set the counter to anything (S19). */
    static boolean isPlausible(long token) {
        return token > 0 && token < TOO_HIGH;
    }

    /** No resource that has seen it would ever accept another: it is given back. */
    private void refuse(CompletableFuture<AttemptResult> answer, long token) {
        BackendRefusedException why = new BackendRefusedException(acquire() + " at " + backend.endpoints()
                + ": the fencing token " + token + " is out of range: something else wrote to \"" + keys.counter()
                + "\" or \"" + keys.grant() + "\"; find out what, then delete them");
        removal.release(found -> answer.completeExceptionally(why), failure -> answer.completeExceptionally(why));
    }

    /** It counts only once replicas have it, and sentinels name the server; otherwise it is given back. */
    private void check(CompletableFuture<AttemptResult> answer, RedisNodeClient node, MonotonicTime sent, long token) {
        MonotonicTime until =
                sent.plus(Durations.divide(context.requestTimeout(), 2)); // the rest is for giving it back
        backend.grantCheck().check(node, sent, until, request.leaseDuration(), (countsFrom, failure) -> {
            if (failure == null) {
                answer.complete(grant(token, LockClock.deadline(countsFrom, request.leaseDuration())));
            } else {
                removal.release(
                        found -> answer.completeExceptionally(failure), cause -> answer.completeExceptionally(failure));
            }
        });
    }

    /** At the latest when the present holder's time has passed, if it died. */
    private static Duration untilNext(long leftMillis) {
        return leftMillis < 0 || leftMillis >= FALLBACK.toMillis() ? FALLBACK : Duration.ofMillis(leftMillis + 1);
    }

    /** The lock was handed off to us. On the I/O thread. */
    void pushed(GrantMessage.Granted grant, int epoch) {
        handedOff.told(grant, epoch, context.clock().now());
        wake();
    }

    /** Whether it waits for a message from there. */
    boolean waitsAt(RedisNodeClient node) {
        return !granted && asked == node;
    }

    /** Whether it waits at a server that does not have its lock any more. */
    boolean isMisplaced() {
        return !granted && asked != null && asked != node();
    }

    /** It may be first in the queue by now: a message may have been lost. */
    @Override
    public void wake() {
        if (abandoned) {
            withdrawUnasked();
        } else {
            waiter.wake();
        }
    }

    /** Nobody waits for it any more, but it was still queued when the server was back: the next one is served. */
    private void withdrawUnasked() {
        removal.end(
                found -> backend.mailbox().remove(request.attemptId()),
                failure -> log.debug("event=queue-entry-left lock=\"{}\"", request.name(), failure));
    }

    @Override
    public CompletionStage<Boolean> end() {
        if (!leaves) {
            return CompletableFuture.completedFuture(false);
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        removal.end(
                found -> {
                    backend.mailbox().remove(request.attemptId());
                    done.complete(found.held() || (found.queued() && !granted));
                },
                done::completeExceptionally);
        return done;
    }

    /** Its grant and its queue entry expire by themselves; until then a message for it is answered by its withdrawal. */
    @Override
    public void abandon() {
        abandoned = true;
        context.clock().schedule(PLACE_STANDS, () -> backend.mailbox().remove(request.attemptId()));
    }

    private RedisNodeClient node() {
        return backend.link().nodeOf(keys);
    }

    private String acquire() {
        return "acquire of lock \"" + request.name() + "\"";
    }
}
