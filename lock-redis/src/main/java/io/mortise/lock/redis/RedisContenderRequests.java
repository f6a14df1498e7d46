// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.RedisContenderEffect.SendDelayedRelease;
import io.mortise.lock.redis.RedisContenderEvent.AcquireFailed;
import io.mortise.lock.redis.RedisContenderEvent.Busy;
import io.mortise.lock.redis.RedisContenderEvent.DelayFailed;
import io.mortise.lock.redis.RedisContenderEvent.Delayed;
import io.mortise.lock.redis.RedisContenderEvent.Granted;
import io.mortise.lock.redis.RedisContenderEvent.GrantedUnusable;
import io.mortise.lock.redis.RedisContenderEvent.Late;
import io.mortise.lock.redis.RedisContenderEvent.RemovalFailed;
import io.mortise.lock.redis.RedisContenderEvent.Removed;
import io.mortise.lock.redis.RedisContenderEvent.Reply;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Sends the requests of one contender, and turns their outcomes into its events, on the connection's I/O thread. */
final class RedisContenderRequests {
    /** The time for which a queue entry is kept without another request: three fallback times with the core's jitter. */
    static final Duration ENTRY_LIFETIME = Duration.ofSeconds(20);

    /** From here on Lua and many resources cannot distinguish a token from the next. The clock reaches it in the year 2255. */
    private static final long TOO_HIGH = 1L << 53;

    private final RedisBackend backend;
    private final LockRequest request;
    private final RedisKeyLayout.OfLock keys;
    private final Consumer<RedisContenderEvent> events;
    private final String record;
    private final String nonce;
    private final AttemptRemoval removal;

    RedisContenderRequests(
            RedisBackend backend,
            LockRequest request,
            RedisKeyLayout.OfLock keys,
            Consumer<RedisContenderEvent> events) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.events = events;
        this.record = request.ownerRecord() + backend.mark(); // its start time stays the same for all requests (S18)
        this.nonce = request.mayWait() ? backend.signer().nonce(request.attemptId()) : "";
        this.removal = new AttemptRemoval(request, RedisLockScript.RELEASE.script(), keys.all());
    }

    /** Sends an acquire to a server whose connection is open. */
    void acquire(RedisNodeClient node) {
        MonotonicInstant now = backend.context().clock().now();
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
            private volatile boolean sentAgain;

            @Override
            public void onSentAgain() {
                sentAgain = true;
            }

            @Override
            public void onReply(List<Object> values) {
                Reply reply = acquireReply(node, now, values);
                node.serverClock().onReply(now, reply.time());
                events.accept(reply);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                int sentIn = sentAgain ? InDoubtRequests.OUT_OF_ORDER : epoch;
                events.accept(new AcquireFailed(notExecuted, sentIn, notAfter, failure(cause, what("acquire"))));
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
            MonotonicInstant validUntil = LockClock.deadline(sent, request.leaseDuration());
            boolean needsConfirmation = !backend.confirmation().isUnneeded(node);
            return new Granted(node.epoch(), time, token, sent, validUntil, needsConfirmation);
        }
        // A resource that has seen such a token would never accept another.
        return new GrantedUnusable(
                node.epoch(),
                time,
                new BackendRefusedException(what("acquire") + " at " + backend.endpoints() + ": the fencing token "
                        + token + " is out of range: something else wrote to \"" + keys.counter() + "\" or \""
                        + keys.grant() + "\"; find out what, then delete them"));
    }

    /** Returns whether this can be a token: another writer may have set the counter to any value (S19). */
    static boolean isPlausible(long token) {
        return token > 0 && token < TOO_HIGH;
    }

    /** @param withTime whether the reply must contain the server's time */
    void remove(RedisNodeClient node, boolean withTime) {
        removal.send(node, withTime, new AttemptRemoval.Handler() {
            @Override
            public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {
                events.accept(new Removed(epoch, time, held, queued)); // unregisters a contender that ends
                // Even if this try found nothing: an earlier one without a reply may have removed it.
                backend.onRemoved(keys, request.attemptId(), epoch, request.leaseDuration());
            }

            @Override
            public void onFailure(boolean notExecuted, LockException cause) {
                events.accept(new RemovalFailed(notExecuted, cause));
            }
        });
    }

    void releaseAfter(RedisNodeClient node, SendDelayedRelease release) {
        String[] args = {
            request.attemptId(),
            String.valueOf(Durations.roundUpToMillis(release.delay()).toMillis()),
            String.valueOf(release.token())
        };
        node.run(RedisLockScript.RELEASE_AFTER.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                ServerTime time = new ServerTime((Long) values.get(1));
                events.accept(new Delayed(node.epoch(), time, values.get(0).equals(1L)));
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                events.accept(new DelayFailed(failure(cause, what("delayed release"))));
            }
        });
    }

    LockException failure(Throwable cause, String what) {
        return RedisErrors.of(cause, what, backend.endpoints());
    }

    /** Returns the description of a request for messages. */
    String what(String kind) {
        return kind + " of lock \"" + request.name() + "\"";
    }
}
