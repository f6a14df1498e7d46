// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

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
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps each master that may have forgotten votes in quarantine until {@link QuarantinePolicy} lets it vote. Thread-safe.
 *
 * <p>Performs a handshake on each new connection to a master, and repeats it while the master does not vote.
 */
public final class MasterQuarantine {
    private static final Logger log = LoggerFactory.getLogger(MasterQuarantine.class);

    /**
     * Interval of handshakes with a master that does not vote: its quarantine may have ended, or another client may have ended
     * it.
     */
    private static final Duration HANDSHAKE_INTERVAL = Duration.ofMillis(250);

    /** Message with which a master notifies all clients that one of them has seen it enter quarantine. */
    private static final String QUARANTINE_MESSAGE = "Q";

    private final RedlockMasters masters;
    private final Quorum quorum;
    private final RedlockKeys keys;
    private final BackendContext context;
    private final Runnable whenMasterVotes;
    private final Duration maxLease;
    private final boolean testOnlyNewMasters;

    private volatile TestOnlyQuarantineExemptions exemptMasters = TestOnlyQuarantineExemptions.NONE;

    private final QuarantineExit exit;
    private final Set<RedlockMaster> leaving = ConcurrentHashMap.newKeySet();

    /**
     * Creates the quarantine of all masters of one client.
     *
     * @param testOnlyNewMasters whether masters without data are treated as new ones
     * @param whenMasterVotes action that runs each time a master begins to vote
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
        this.exit = new QuarantineExit(keys, maxLease);
    }

    /**
     * Returns the listener for the connections of one master.
     *
     * @param messages listener that receives the messages of the master
     */
    public NodeListener listener(int index, NodeListener messages) {
        return new NodeListener() {
            @Override
            public void onMessage(RedisNodeClient from, String text) {
                if (text.equals(QUARANTINE_MESSAGE)) {
                    restoreMaxLease(masters.all().get(index));
                } else {
                    messages.onMessage(from, text);
                }
            }

            @Override
            public void onSubscribed(RedisNodeClient node) {
                startHandshake(masters.all().get(index), node);
            }

            @Override
            public void onOpened(RedisNodeClient node) {
                EvictionCheck.warn(node);
            }

            @Override
            public void onFailure(RedisNodeClient node, Throwable cause) {
                masters.stateChanged();
            }
        };
    }

    private void startHandshake(RedlockMaster master, RedisNodeClient node) {
        int epoch = node.epoch();
        node.execute("INFO server", commands -> commands.info("server"))
                .thenCompose(info -> sendHandshake(node, epoch, field(info, "run_id")))
                .whenComplete((reply, failure) -> {
                    if (node.epoch() != epoch) {
                        return; // the new connection has its own handshake
                    }
                    if (failure == null) {
                        handshakeSucceeded(master, reply);
                    } else {
                        master.handshakeFailed(failure);
                    }
                    masters.stateChanged();
                    if (failure != null || !reply.isVoting()) {
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

    private CompletionStage<MasterHandshakeReply> sendHandshake(RedisNodeClient node, int epoch, String runId) {
        MonotonicInstant sent = context.clock().now();
        return node.execute(
                        "handshake",
                        RedlockScript.HANDSHAKE.script(),
                        new String[] {keys.state()},
                        runId,
                        String.valueOf(masters.hadMajority() ? maxLease.toMillis() : 0),
                        keys.channels())
                .thenApply(reply -> {
                    ServerTime now = new ServerTime((Long) reply.get(4));
                    ServerTime since = new ServerTime((Long) reply.get(2));
                    node.serverClock().onReply(sent, now);
                    long maxLeaseMillis = (Long) reply.get(3);
                    QuarantinePolicy.MasterState state = new QuarantinePolicy.MasterState(
                            reply.get(0).equals(1L),
                            reply.get(1).equals(1L),
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

    private void handshakeSucceeded(RedlockMaster master, MasterHandshakeReply reply) {
        masters.duplicateServer(master, reply.runId()).ifPresentOrElse(master::handshakeFailed, () -> {
            boolean votedBefore = master.voting() != null;
            boolean agreedBefore = master.handshake()
                    .map(MasterHandshakeReply::agreesOnMaxLease)
                    .orElse(true);
            master.handshakeSucceeded(reply);
            if (!reply.agreesOnMaxLease()) {
                maxLeaseDiffers(master, reply, agreedBefore);
            }
            if (reply.isVoting() && !votedBefore) {
                whenMasterVotes.run();
            }
            updateExemptMasters();
            // The state of one master may allow others to leave quarantine.
            masters.all()
                    .forEach(each -> each.handshake()
                            .filter(handshake -> !handshake.isVoting())
                            .ifPresent(handshake -> applyPolicy(each, handshake)));
        });
    }

    private void maxLeaseDiffers(RedlockMaster master, MasterHandshakeReply reply, boolean agreedBefore) {
        Duration stored = reply.state().maxLease().orElse(Duration.ZERO);
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

    /** Updates the exempt masters, all at once: as soon as one master votes, the others look as if they had lost their data. */
    private void updateExemptMasters() {
        // Only while the client connects: a master that is empty later has lost its data.
        if (testOnlyNewMasters && !masters.hadMajority()) {
            exemptMasters = exemptMasters.update(
                    masters.all().stream().map(RedlockMaster::emptyIncarnation).toList());
        }
    }

    private QuarantinePolicy.Decision decide(
            RedlockMaster master,
            MasterHandshakeReply handshake,
            Function<RedlockMaster, QuarantinePolicy.PeerState> peerState) {
        return new QuarantinePolicy(quorum, maxLease, exemptMasters.contains(handshake.incarnation()))
                .decide(
                        handshake.stateAt(context.clock().now()),
                        masters.peersOf(master).stream().map(peerState).toList());
    }

    private void applyPolicy(RedlockMaster master, MasterHandshakeReply handshake) {
        QuarantinePolicy.Decision decision = decide(master, handshake, RedlockMaster::peerState);
        if (decision instanceof QuarantinePolicy.Decision.Stay stay) {
            master.quarantineRemaining(stay.time());
        } else if (decision instanceof QuarantinePolicy.Decision.MaxLeaseConflict && handshake.agreesOnMaxLease()) {
            // A client whose maxLease may be wrong must not decide how long the master stays in quarantine.
            masters.peersOf(master).stream()
                    .filter(other -> other.peerState() == QuarantinePolicy.PeerState.MAX_LEASE_DIFFERS)
                    .findFirst()
                    .flatMap(RedlockMaster::failure)
                    .ifPresent(master::handshakeFailed);
        } else if (decision instanceof QuarantinePolicy.Decision.Leave && leaving.add(master)) {
            leaveQuarantine(master, handshake);
        }
    }

    private void leaveQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        exit.readCounters(masters.peersOf(master))
                .thenCompose(counters -> leaveQuarantine(master, handshake, counters))
                .whenComplete((left, failure) -> {
                    leaving.remove(master);
                    if (failure != null) {
                        master.handshakeFailed(failure);
                        log.debug("event=quarantine-not-left master={}", master.endpoint(), failure);
                    } else if (left) {
                        startHandshake(master, handshake.node());
                    }
                });
    }

    /** Lets a master leave quarantine with these counters of its peers; completes with false if they are not sufficient. */
    private CompletionStage<Boolean> leaveQuarantine(
            RedlockMaster master, MasterHandshakeReply handshake, Map<RedlockMaster, List<Long>> counters) {
        QuarantinePolicy.Decision decision = decide(
                master,
                handshake,
                peer -> counters.containsKey(peer)
                        ? peer.peerState()
                        : peer.peerState().withoutCounters());
        if (!(decision instanceof QuarantinePolicy.Decision.Leave leave)) {
            return CompletableFuture.completedStage(false);
        }
        return exit.leave(handshake, counters.values(), leave.raiseToClock()).thenApply(left -> {
            if (left) {
                log.info("event=quarantine-left master={} by_clock={}", master.endpoint(), leave.raiseToClock());
            }
            return left;
        });
    }

    /** Records that a request on the connection of that handshake received no reply in time. */
    public void replyMissing(RedlockMaster master, MasterHandshakeReply handshake, MonotonicInstant sent) {
        if (master.health().replyMissing(sent)) {
            log.info("event=master-lags master={}", master.endpoint());
            repeatHandshake(master, handshake.node(), handshake.epoch());
        }
    }

    /**
     * Stores {@code maxLease} again at a master that is said to have lost it. Nothing else follows from the message, since anybody
     * can publish one (S19); the next request there shows whether the master votes.
     */
    private void restoreMaxLease(RedlockMaster master) {
        MasterHandshakeReply voting = master.voting();
        if (voting != null) {
            sendHandshake(voting.node(), voting.epoch(), voting.runId());
        }
    }

    /** Repeats the handshake with a master after a reply that shows that the master may have forgotten votes. */
    public void enterQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        if (master.discardHandshake(handshake) && handshake.isCurrent()) {
            startHandshake(master, handshake.node());
        }
    }
}
