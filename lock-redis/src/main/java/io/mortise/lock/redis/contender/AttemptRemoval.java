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
 * Removes everything that one attempt has at a server, or may still get there (S8). Withdrawal and release in one, safe to
 * repeat. Thread-safe; answers are told on the connection's I/O thread.
 */
public final class AttemptRemoval {
    private final BackendContext context;
    private final LockRequest request;
    private final Supplier<RedisNodeClient> node;
    private final LuaScript script;
    private final String[] keys;
    private final Args args;
    private final RedisInDoubtAcquires unanswered = new RedisInDoubtAcquires();
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /** Makes the arguments of the script. */
    public interface Args {
        /** In the script's order; {@code timeWanted}: its answer must end with the server's time. */
        String[] of(boolean timeWanted);
    }

    /**
     * What a removal found, and took away.
     *
     * @param held its grant
     * @param queued its position in the queue
     * @param complete no request of the attempt can be executed any more
     */
    public record Removed(boolean held, boolean queued, boolean complete) {}

    /**
     * Creates the removal of one attempt; sends nothing yet.
     *
     * @param node the server that has the lock now
     * @param script answers 1 or 0: its grant was there. After that it may answer 1 or 0: it was queued; the server's time
     *     in µs; and 1 if it is to be run again for those in the queue. A text as the first value says why it did nothing: that is {@link BackendUnavailableException}
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
     * A request of this attempt had no answer: it may yet be executed.
     *
     * @param epoch before it was sent
     * @param notAfter the server refuses it once its clock has passed that, see {@link RedisNodeClient#notAfter}
     */
    public void unanswered(int epoch, ServerTime notAfter) {
        unanswered.add(epoch, notAfter);
    }

    /** Whether a request may yet be executed. */
    public boolean mayYetExecute() {
        return unanswered.any();
    }

    /** Another request of this attempt was answered in that epoch, at that time of the server's. */
    public void answered(int epoch, ServerTime time) {
        if (unanswered.any()) {
            unanswered.resolvedBy(epoch, time);
        }
    }

    /** Removes its grant and its queue entry once; the attempt may go on. */
    public void release(Consumer<Removed> found, Consumer<LockException> failed) {
        RedisNodeClient at = node.get();
        at.run(script, keys, args.of(unanswered.any()), new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                if (values.get(0) instanceof String why) {
                    failed.accept(new BackendUnavailableException(what() + " at " + at.endpoints() + ": " + why));
                    return;
                }
                boolean complete = !unanswered.any()
                        || unanswered.resolvedBy(
                                at.epoch(),
                                values.size() > 2 ? new ServerTime((Long) values.get(2)) : ServerTime.UNKNOWN);
                if (values.size() > 3) {
                    release(again -> {}, failure -> {}); // its waiters ask by themselves if this fails
                }
                found.accept(new Removed(
                        values.get(0).equals(1L),
                        values.size() > 1 && values.get(1).equals(1L),
                        complete));
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                failed.accept(RedisErrors.of(cause, what(), at.endpoints()));
            }
        });
    }

    /** The attempt has ended: what may yet come after this release is taken away in the background. */
    public void end(Consumer<Removed> found, Consumer<LockException> failed) {
        release(
                was -> {
                    if (!was.complete) {
                        sweep();
                    }
                    found.accept(was);
                },
                failed);
    }

    /**
     * A request without an answer may lie in a buffer of a connection that has ended, and be executed after the release: what
     * it makes is removed again, until the server's clock has passed the time after which the script refuses it.
     */
    private void sweep() {
        if (sweeping.compareAndSet(false, true)) {
            context.cleanUp(
                    "a request for lock \"" + request.name() + "\" without an answer, which may yet execute",
                    () -> {
                        CompletableFuture<Boolean> swept = new CompletableFuture<>();
                        release(
                                was -> {
                                    if (was.complete) {
                                        swept.complete(true);
                                    } else {
                                        swept.completeExceptionally(
                                                new BackendUnavailableException("a request may still be executed"));
                                    }
                                },
                                swept::completeExceptionally);
                        return swept;
                    },
                    context.clock().now().plus(executesWithin()));
        }
    }

    /** So long after it was sent the script refuses it, whatever the lease; twice, for what the server's clock was taken for. */
    private Duration executesWithin() {
        Duration late = node.get().requestTimeout().multipliedBy(2);
        return Durations.longer(request.leaseDuration(), late);
    }

    private String what() {
        return "release of lock \"" + request.name() + "\"";
    }
}
