// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Removes the grant and the queue entry of one acquire attempt from a server. It also removes those that a request in doubt
 * may still create (S8). A removal serves as release and as withdrawal, and is safe to repeat. Thread-safe; callbacks run on
 * the connection's I/O thread.
 */
public final class AttemptRemoval {
    private final BackendContext context;
    private final LockRequest request;
    private final Supplier<RedisNodeClient> node;
    private final LuaScript script;
    private final String[] keys;
    private final Args args;
    private final RedisInDoubtAcquireTracker inDoubt = new RedisInDoubtAcquireTracker();
    private final AtomicBoolean repeating = new AtomicBoolean();

    /** Supplies the arguments of the removal script. */
    public interface Args {
        /**
         * Returns the arguments in the script's order.
         *
         * @param withTime whether the script's reply must end with the server's time
         */
        String[] of(boolean withTime);
    }

    /**
     * The result of a removal.
     *
     * @param held whether the attempt held the lock
     * @param queued whether the attempt had a queue entry
     * @param complete whether no request of the attempt can be executed any more
     */
    public record Removed(boolean held, boolean queued, boolean complete) {}

    /**
     * Creates the removal of one attempt; sends nothing yet.
     *
     * @param node returns the server that has the lock now
     * @param script the removal script. Its reply starts with 1 if the grant existed, else 0. Optional values follow: 1 if
     *     the attempt was queued, else 0; the server's time in µs; 1 if the script must run again for the waiters. If it did
     *     nothing, the first value is a string with the reason, which becomes a {@link BackendUnavailableException}
     */
    public AttemptRemoval(
            BackendContext context,
            LockRequest request,
            Supplier<RedisNodeClient> node,
            LuaScript script,
            String[] keys,
            Args args) {
        this.context = context;
        this.request = request;
        this.node = node;
        this.script = script;
        this.keys = keys;
        this.args = args;
    }

    /**
     * Records that a request of this attempt had no reply, so that it may still be executed.
     *
     * @param epoch the epoch before the request was sent
     * @param notAfter the server time after which the server refuses the request, see {@link RedisNodeClient#notAfter}
     */
    public void onInDoubt(int epoch, ServerTime notAfter) {
        inDoubt.add(epoch, notAfter);
    }

    /** Returns whether a request without a reply may still be executed. */
    public boolean mayStillExecute() {
        return inDoubt.any();
    }

    /** Records that another request of this attempt had a reply in this epoch, at this time of the server's clock. */
    public void onReply(int epoch, ServerTime time) {
        if (inDoubt.any()) {
            inDoubt.resolvedBy(epoch, time);
        }
    }

    /** Removes the attempt's grant and queue entry once; the attempt may send further requests. */
    public void release(Consumer<Removed> found, Consumer<LockException> failed) {
        RedisNodeClient at = node.get();
        at.run(script, keys, args.of(inDoubt.any()), new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                if (values.get(0) instanceof String why) {
                    failed.accept(new BackendUnavailableException(what() + " at " + at.endpoints() + ": " + why));
                    return;
                }
                boolean complete = !inDoubt.any()
                        || inDoubt.resolvedBy(
                                at.epoch(),
                                values.size() > 2 ? new ServerTime((Long) values.get(2)) : ServerTime.UNKNOWN);
                if (values.size() > 3) {
                    release(again -> {}, failure -> {}); // if this fails, the waiters retry at their fallback time
                }
                found.accept(new Removed(
                        values.get(0).equals(1L),
                        values.size() > 1 && values.get(1).equals(1L),
                        complete));
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                failed.accept(RedisErrors.of(cause, what(), at.endpoints()));
            }
        });
    }

    /**
     * Removes the grant and the queue entry of an ended attempt. Those that late requests create are removed in the
     * background.
     */
    public void end(Consumer<Removed> found, Consumer<LockException> failed) {
        release(
                removed -> {
                    if (!removed.complete) {
                        removeRepeatedly();
                    }
                    found.accept(removed);
                },
                failed);
    }

    /**
     * Repeats the removal until no late request can be executed. A request without a reply may still be in a buffer of a
     * closed connection, and be executed after the release. The repetition ends when the server's clock has passed the time
     * after which the script refuses such a request.
     */
    private void removeRepeatedly() {
        if (repeating.compareAndSet(false, true)) {
            context.cleanUp(
                    "a request for lock \"" + request.name() + "\" without a reply, which may still be executed",
                    () -> {
                        CompletableFuture<Boolean> done = new CompletableFuture<>();
                        release(
                                removed -> {
                                    if (removed.complete) {
                                        done.complete(true);
                                    } else {
                                        done.completeExceptionally(
                                                new BackendUnavailableException("a request may still be executed"));
                                    }
                                },
                                done::completeExceptionally);
                        return done;
                    },
                    context.clock().now().plus(repetitionLimit()));
        }
    }

    /**
     * Returns how long the removal is repeated at most: for one lease, and at least for twice the time after which the script
     * refuses a late request, because the server's time is only an estimate.
     */
    private Duration repetitionLimit() {
        Duration twoTimeouts = node.get().requestTimeout().multipliedBy(2);
        return Durations.longer(request.leaseDuration(), twoTimeouts);
    }

    private String what() {
        return "release of lock \"" + request.name() + "\"";
    }
}
