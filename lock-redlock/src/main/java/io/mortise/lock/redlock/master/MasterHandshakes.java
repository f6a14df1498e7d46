// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Performs the handshakes with one master: one on each new connection, and more on the same connection when they are due. At
 * most one is pending on a connection. Thread-safe.
 */
final class MasterHandshakes {
    /** Time until a handshake that has failed is repeated. */
    static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(250);

    private static final int NO_EPOCH = 0;

    /** The process at the other end of one connection. */
    private record MasterProcess(int epoch, String runId) {}

    /** Receives the replies to the handshakes. */
    interface Receiver {
        /** Processes a reply, and returns the time until the next handshake; empty if none is due. */
        Optional<Duration> onReply(RedlockMaster master, MasterHandshakeReply reply);
    }

    private final int index;
    private final RedlockMasters masters;
    private final RedlockKeys keys;
    private final Duration maxLease;
    private final BackendContext context;
    private final Receiver receiver;

    @GuardedBy("this")
    private int pendingEpoch = NO_EPOCH; // of the connection with a pending handshake

    @GuardedBy("this")
    private boolean again; // once the pending handshake has ended

    private volatile int started; // written under the monitor
    private volatile MasterProcess process = new MasterProcess(NO_EPOCH, "");

    MasterHandshakes(
            int index,
            RedlockMasters masters,
            RedlockKeys keys,
            Duration maxLease,
            BackendContext context,
            Receiver receiver) {
        this.index = index;
        this.masters = masters;
        this.keys = keys;
        this.maxLease = maxLease;
        this.context = context;
        this.receiver = receiver;
    }

    /** Starts a handshake on the present connection; once the pending one has ended, if there is one. */
    void start(RedisNodeClient node) {
        int epoch;
        synchronized (this) {
            epoch = node.epoch();
            again = epoch == pendingEpoch; // its reply may be older than what leads to this one
            if (again) {
                return;
            }
            pendingEpoch = epoch;
            started++;
        }
        CompletableFuture.completedStage(process)
                .thenCompose(known -> known.epoch == epoch
                        ? CompletableFuture.completedStage(known)
                        : node.execute("INFO server", commands -> commands.info("server"))
                                .thenApply(info -> new MasterProcess(epoch, runId(info))))
                .thenCompose(known -> {
                    process = known;
                    return send(node, known);
                })
                .whenComplete((reply, failure) -> ended(node, epoch, reply, failure));
    }

    /** Processes the outcome of a handshake before another one on the same connection begins, so that none replaces a later one. */
    private void ended(
            RedisNodeClient node, int epoch, @Nullable MasterHandshakeReply reply, @Nullable Throwable failure) {
        boolean current = node.epoch() == epoch; // else the new connection has its own handshake
        Optional<Duration> next = current ? processed(reply, failure) : Optional.empty();
        boolean repeat;
        synchronized (this) {
            if (pendingEpoch != epoch) {
                return;
            }
            pendingEpoch = NO_EPOCH;
            repeat = again && current;
        }
        masters.stateChanged();
        if (repeat) {
            start(node);
        } else {
            next.ifPresent(pause -> startAfter(pause, node));
        }
    }

    /** Returns the time until the next handshake. One whose reply cannot be processed has failed. */
    private Optional<Duration> processed(@Nullable MasterHandshakeReply reply, @Nullable Throwable failure) {
        RedlockMaster master = masters.all().get(index);
        @Nullable Throwable why = failure;
        if (reply != null) {
            try {
                return receiver.onReply(master, reply);
            } catch (Throwable e) { // no other handshake would follow
                why = e;
            }
        }
        master.handshakeFailed(Objects.requireNonNull(why));
        return Optional.of(PAUSE_AFTER_FAILURE);
    }

    private static String runId(String info) {
        return ServerInfo.field(info, "run_id")
                .orElseThrow(() -> new BackendUnavailableException("INFO server has no field run_id"));
    }

    private CompletionStage<MasterHandshakeReply> send(RedisNodeClient node, MasterProcess to) {
        MonotonicInstant sent = context.clock().now();
        return node.execute(
                        "handshake",
                        RedlockScript.HANDSHAKE.script(),
                        new String[] {keys.state()},
                        to.runId,
                        String.valueOf(masters.hadMajority() ? maxLease.toMillis() : 0),
                        keys.channels())
                .thenApply(reply -> {
                    QuarantinePolicy.MasterState state = state(reply);
                    node.serverClock().onReply(sent, state.now());
                    return new MasterHandshakeReply(
                            node,
                            to.epoch,
                            to.runId,
                            state,
                            state.agreesOnMaxLease(maxLease),
                            context.clock().now());
                });
    }

    private static QuarantinePolicy.MasterState state(List<Object> reply) {
        ServerTime since = new ServerTime((Long) reply.get(2));
        long maxLeaseMillis = (Long) reply.get(3);
        return new QuarantinePolicy.MasterState(
                reply.get(0).equals(1L),
                reply.get(1).equals(1L),
                maxLeaseMillis == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(maxLeaseMillis)),
                since.equals(ServerTime.UNKNOWN) ? Optional.empty() : Optional.of(since),
                new ServerTime((Long) reply.get(4)));
    }

    /** Starts another handshake on the connection of an earlier one, if that is still the current one. */
    void repeat(MasterHandshakeReply earlier) {
        if (earlier.isCurrent()) {
            start(earlier.node());
        }
    }

    /** Starts a handshake after the pause, unless one is started before or the connection is lost, which leads to one. */
    void startAfter(Duration pause, RedisNodeClient node) {
        int epoch = node.epoch();
        int last = started;
        context.clock().schedule(pause, () -> {
            if (started == last && node.epoch() == epoch && node.isConnected()) {
                start(node);
            }
        });
    }
}
