// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.admin.EvictionCheck;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Performs the handshake on each new connection to a master, and lets masters leave quarantine as {@link QuarantinePolicy}
 * decides. Thread-safe.
 */
public final class MasterQuarantine {
    private static final Logger log = LoggerFactory.getLogger(MasterQuarantine.class);

    /** Interval of handshakes with a master that does not vote: time passes, and another client may have let it vote. */
    private static final Duration HANDSHAKE_INTERVAL = Duration.ofMillis(250);

    private final RedlockMasters masters;
    private final Quorum quorum;
    private final RedlockKeys keys;
    private final BackendContext context;
    private final Runnable whenMasterVotes;
    private final Duration maxLease;
    private final boolean testOnlyNewMasters;

    private volatile QuarantineExemptMasters newMasters = QuarantineExemptMasters.NONE;

    @GuardedBy("this")
    private final Set<RedlockMaster> leaving = new HashSet<>();

    /**
     * Creates the quarantine of all masters of one client.
     *
     * @param testOnlyNewMasters whether masters without data are taken for new ones
     * @param whenMasterVotes run each time that a master begins to vote
     */
    public MasterQuarantine(
            RedlockMasters masters,
            RedlockKeys keys,
            Duration maxLease,
            boolean testOnlyNewMasters,
            BackendContext context,
            Runnable whenMasterVotes) {
        this.masters = masters;
        this.quorum = masters.quorum();
        this.keys = keys;
        this.maxLease = maxLease;
        this.testOnlyNewMasters = testOnlyNewMasters;
        this.context = context;
        this.whenMasterVotes = whenMasterVotes;
    }

    /**
     * Returns the listener for the connections of one master.
     *
     * @param messages receives what the master publishes
     */
    public NodeListener listener(int index, NodeListener messages) {
        return new NodeListener() {
            @Override
            public void message(RedisNodeClient from, String text) {
                messages.message(from, text);
            }

            @Override
            public void listening(RedisNodeClient node) {
                startHandshake(masters.all().get(index), node);
            }

            @Override
            public void opened(RedisNodeClient node) {
                EvictionCheck.warn(node);
            }

            @Override
            public void trouble(RedisNodeClient node, Throwable cause) {
                masters.stateChanged();
            }
        };
    }

    private void startHandshake(RedlockMaster master, RedisNodeClient node) {
        int epoch = node.epoch();
        node.ask("INFO server", commands -> commands.info("server"))
                .thenCompose(info -> handshake(node, epoch, info))
                .whenComplete((answer, failure) -> {
                    if (node.epoch() != epoch) {
                        return; // the next connection has its own handshake
                    }
                    if (failure == null) {
                        handshakeSucceeded(master, answer);
                    } else {
                        master.handshakeFailed(failure);
                    }
                    masters.stateChanged();
                    if (failure != null || !answer.isVoting()) {
                        context.clock().schedule(HANDSHAKE_INTERVAL, () -> repeatHandshake(master, node, epoch));
                    }
                });
    }

    private void repeatHandshake(RedlockMaster master, RedisNodeClient node, int epoch) {
        if (master.node() == node
                && node.isUsable()
                && node.isConnected()
                && node.epoch() == epoch
                && (master.voting() == null || master.health().isLagging())) {
            startHandshake(master, node);
        }
    }

    private CompletionStage<MasterHandshakeReply> handshake(RedisNodeClient node, int epoch, String info) {
        String runId = field(info, "run_id");
        MonotonicTime sent = context.clock().now();
        return node.ask(
                        "handshake",
                        RedlockScript.HANDSHAKE.script(),
                        new String[] {keys.state()},
                        runId,
                        String.valueOf(masters.hadMajority() ? maxLease.toMillis() : 0))
                .thenApply(answer -> {
                    ServerTime now = new ServerTime((Long) answer.get(4));
                    ServerTime since = new ServerTime((Long) answer.get(2));
                    node.time().heard(sent, now);
                    long maxLeaseMillis = (Long) answer.get(3);
                    QuarantinePolicy.MasterState state = new QuarantinePolicy.MasterState(
                            answer.get(0).equals(1L),
                            answer.get(1).equals(1L),
                            maxLeaseMillis == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(maxLeaseMillis)),
                            since.equals(ServerTime.UNKNOWN) ? Optional.empty() : Optional.of(since),
                            now);
                    return new MasterHandshakeReply(
                            node,
                            epoch,
                            runId,
                            state,
                            state.agreesOnMaxLease(maxLease),
                            context.clock().now());
                });
    }

    private static String field(String info, String name) {
        return ServerInfo.field(info, name)
                .orElseThrow(() -> new BackendUnavailableException("INFO server has no field " + name));
    }

    private void handshakeSucceeded(RedlockMaster master, MasterHandshakeReply answer) {
        masters.sameServer(master, answer.runId()).ifPresentOrElse(master::handshakeFailed, () -> {
            boolean votedBefore = master.voting() != null;
            boolean agreedBefore = master.handshake()
                    .map(MasterHandshakeReply::agreesOnMaxLease)
                    .orElse(true);
            master.handshakeSucceeded(answer);
            if (!answer.agreesOnMaxLease()) {
                maxLeaseDiffers(master, answer, agreedBefore);
            }
            if (answer.isVoting() && !votedBefore) {
                whenMasterVotes.run();
            }
            updateNewMasters();
            // The state of one master may decide about the others.
            masters.all()
                    .forEach(each -> each.handshake()
                            .filter(known -> !known.isVoting())
                            .ifPresent(known -> applyPolicy(each, known)));
        });
    }

    private void maxLeaseDiffers(RedlockMaster master, MasterHandshakeReply answer, boolean agreedBefore) {
        Duration stored = answer.state().maxLease().orElse(Duration.ZERO);
        LockConfigurationException refusal = new LockConfigurationException("maxLease is " + maxLease
                + " in this client, but "
                + stored
                + " at " + master.endpoint() + " (prefix \"" + keys.prefix()
                + "\"): it must be the same for all clients, or one master could forget a lease that another client"
                + " still has. Connect with that value; or, to change it, stop all clients"
                + (stored.compareTo(maxLease) > 0 ? ", wait for " + stored : "") + ", and run on each master: HSET "
                + keys.state() + " maxLease " + maxLease.toMillis());
        master.handshakeFailed(refusal);
        if (agreedBefore) {
            log.warn("event=max-lease-differs {}", refusal.getMessage());
        }
    }

    /** Decides for all masters at once: as soon as one votes, the others look as if they had lost their data. */
    private void updateNewMasters() {
        // Only while the client opens: a master that is empty later has lost its data.
        if (testOnlyNewMasters && !masters.hadMajority()) {
            newMasters = newMasters.update(
                    masters.all().stream().map(RedlockMaster::emptyIncarnation).toList());
        }
    }

    private QuarantinePolicy.Decision decide(RedlockMaster master, MasterHandshakeReply known) {
        return new QuarantinePolicy(quorum, maxLease, newMasters.contains(known.incarnation()))
                .decide(
                        known.stateAt(context.clock().now()),
                        masters.othersThan(master).stream()
                                .map(RedlockMaster::peerState)
                                .toList());
    }

    private void applyPolicy(RedlockMaster master, MasterHandshakeReply known) {
        QuarantinePolicy.Decision decision = decide(master, known);
        if (decision instanceof QuarantinePolicy.Decision.Stay stay) {
            master.quarantineLeft(stay.time());
        } else if (decision instanceof QuarantinePolicy.Decision.MaxLeaseConflict && known.agreesOnMaxLease()) {
            // A client whose maxLease may be wrong must not decide how long the master stays in quarantine.
            masters.othersThan(master).stream()
                    .filter(other -> other.peerState() == QuarantinePolicy.PeerState.MAX_LEASE_DIFFERS)
                    .findFirst()
                    .flatMap(RedlockMaster::failure)
                    .ifPresent(master::handshakeFailed);
        } else if (decision instanceof QuarantinePolicy.Decision.Leave leave && beginLeaving(master)) {
            leave(master, known, leave.raiseToClock()).whenComplete((left, failure) -> {
                endLeaving(master);
                if (failure != null) {
                    master.handshakeFailed(failure);
                    log.debug("event=quarantine-not-left master={}", master.endpoint(), failure);
                } else if (left) {
                    log.info("event=quarantine-left master={} by_clock={}", master.endpoint(), leave.raiseToClock());
                    startHandshake(master, known.node());
                }
            });
        }
    }

    private synchronized boolean beginLeaving(RedlockMaster master) {
        return leaving.add(master);
    }

    private synchronized void endLeaving(RedlockMaster master) {
        leaving.remove(master);
    }

    /** Lets a master leave quarantine; completes with false if the state of the others no longer allows it. */
    private CompletionStage<Boolean> leave(RedlockMaster master, MasterHandshakeReply known, boolean raiseToClock) {
        List<CompletableFuture<Map<String, String>>> reads = new ArrayList<>();
        for (RedlockMaster other : masters.othersThan(master)) {
            MasterHandshakeReply voting = other.voting();
            if (voting != null) {
                reads.add(readCounters(voting).toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new)).thenCompose(ok -> {
            List<Map<String, String>> counters =
                    reads.stream().map(CompletableFuture::join).toList();
            boolean unchanged = decide(master, known).equals(new QuarantinePolicy.Decision.Leave(raiseToClock));
            if (!unchanged || (!raiseToClock && counters.size() < quorum.recoveryQuorum())) {
                return CompletableFuture.completedFuture(false);
            }
            List<String> args = new ArrayList<>();
            args.add(known.runId());
            args.add(String.valueOf(
                    known.state().quarantinedSince().orElse(ServerTime.UNKNOWN).micros()));
            args.add(String.valueOf(maxLease.toMillis()));
            args.add(raiseToClock ? "1" : "0");
            for (String bucket : RedlockKeys.buckets()) {
                args.add(bucket);
                args.add(String.valueOf(highest(counters, bucket)));
            }
            return known.node()
                    .ask(
                            "leaving quarantine",
                            RedlockScript.LEAVE_QUARANTINE.script(),
                            new String[] {keys.state()},
                            args.toArray(String[]::new))
                    .thenApply(answer -> answer.get(0).equals(1L));
        });
    }

    private static long highest(List<Map<String, String>> counters, String bucket) {
        return counters.stream()
                .mapToLong(state -> Long.parseLong(state.getOrDefault(bucket, "0")))
                .max()
                .orElse(0);
    }

    /** Reads the counters of a master; fails if it no longer votes. */
    private CompletionStage<Map<String, String>> readCounters(MasterHandshakeReply voting) {
        return voting.node()
                .ask("counters", commands -> commands.hgetall(keys.state()))
                .thenApply(state -> {
                    if (!voting.runId().equals(state.get("run")) || !voting.isCurrent()) {
                        throw new BackendUnavailableException(
                                voting.node().endpoints() + " has lost its token counters");
                    }
                    return state;
                });
    }

    /** Records that a request on the connection of that handshake had no answer in time. */
    public void unanswered(RedlockMaster master, MasterHandshakeReply known, MonotonicTime sent) {
        if (master.health().unanswered(sent)) {
            log.info("event=master-lags master={}", master.endpoint());
            repeatHandshake(master, known.node(), known.epoch());
        }
    }

    /** Repeats the handshake with a master whose answer shows that it may have forgotten votes. */
    public void enterQuarantine(RedlockMaster master, MasterHandshakeReply known) {
        if (master.discardHandshake(known) && known.isCurrent()) {
            startHandshake(master, known.node());
        }
    }
}
