// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.admin.EvictionCheck;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps each master that may have forgotten votes in quarantine until {@link QuarantinePolicy} lets it vote. Thread-safe.
 *
 * <p>{@link MasterHandshakes} reads the states of the masters, and {@link QuarantineExit} lets one leave quarantine.
 */
public final class MasterQuarantine {
    private static final Logger log = LoggerFactory.getLogger(MasterQuarantine.class);

    /** Message with which a master notifies all clients that it has entered or left quarantine. */
    private static final String QUARANTINE_MESSAGE = "Q";

    /** Longest time until the counters of peers are read again that were missing at the end of a quarantine. */
    static final Duration LONGEST_PAUSE_WITHOUT_COUNTERS = Duration.ofSeconds(1);

    private final RedlockMasters masters;
    private final RedlockKeys keys;
    private final BackendContext context;
    private final Runnable whenMasterVotes;
    private final Duration maxLease;
    private final boolean testOnlyNewMasters;
    private final List<MasterHandshakes> handshakes; // in the order of the masters
    private final QuarantineExit exit;
    private final Set<RedlockMaster> leaving = ConcurrentHashMap.newKeySet();

    private volatile TestOnlyQuarantineExemptions exemptMasters = TestOnlyQuarantineExemptions.NONE;

    /**
     * Creates the quarantine of all masters of one client.
     *
     * @param testOnlyNewMasters whether masters without data are treated as new ones
     * @param whenMasterVotes action that runs each time a master begins to vote, soon after the end of a quarantine
     */
    public MasterQuarantine(
            RedlockMasters masters,
            RedlockKeys keys,
            Duration maxLease,
            boolean testOnlyNewMasters,
            BackendContext context,
            Runnable whenMasterVotes) {
        this.masters = masters;
        this.keys = keys;
        this.maxLease = maxLease;
        this.testOnlyNewMasters = testOnlyNewMasters;
        this.context = context;
        this.whenMasterVotes = whenMasterVotes;
        this.handshakes = IntStream.range(0, masters.quorum().masters())
                .mapToObj(index -> new MasterHandshakes(index, masters, keys, maxLease, context, this::onHandshake))
                .toList();
        this.exit = new QuarantineExit(keys, maxLease);
    }

    /**
     * Returns the listener for the connections of one master.
     *
     * @param messages listener that receives the messages of the master
     */
    public NodeListener listener(int index, NodeListener messages) {
        return new NodeListener() {
            /** A message of the quarantine leads to a handshake and to nothing else, since anybody can publish one (S19). */
            @Override
            public void onMessage(RedisNodeClient from, String text) {
                if (text.equals(QUARANTINE_MESSAGE)) {
                    handshakes.get(index).start(from);
                } else {
                    messages.onMessage(from, text);
                }
            }

            @Override
            public void onSubscribed(RedisNodeClient node) {
                handshakes.get(index).start(node);
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

    private MasterHandshakes handshakesWith(RedlockMaster master) {
        return handshakes.get(master.index());
    }

    private Optional<Duration> onHandshake(RedlockMaster master, MasterHandshakeReply reply) {
        Optional<MasterHandshakeReply> before = master.handshake();
        boolean votedBefore = before.filter(MasterHandshakeReply::isVoting).isPresent();
        boolean agreedBefore =
                before.map(MasterHandshakeReply::agreesOnMaxLease).orElse(true);
        Optional<LockConfigurationException> duplicate = masters.handshakeSucceeded(master, reply);
        if (duplicate.isPresent()) {
            if (master.handshakeFailed(duplicate.get())) {
                log.warn("event=master-named-twice {}", duplicate.get().getMessage());
            }
            return Optional.of(QuarantinePolicy.LONGEST_PAUSE);
        }
        if (!reply.agreesOnMaxLease()) {
            maxLeaseDiffers(master, reply, agreedBefore);
        }
        if (reply.isVoting() && !votedBefore) {
            if (before.filter(known -> !isNew(known)).isPresent()) {
                context.clock().schedule(jitter(), whenMasterVotes); // its quarantine has ended for all clients at once
            } else {
                whenMasterVotes.run();
            }
        }
        updateExemptMasters();
        masters.peersOf(master).forEach(this::applyPolicy); // this master's state may allow others to leave quarantine
        return applyPolicy(master);
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

    /** Returns the time until the next handshake with the master; empty if it votes, or its state is about to change. */
    private Optional<Duration> applyPolicy(RedlockMaster master) {
        return master.handshake().filter(known -> !known.isVoting()).flatMap(known -> applyPolicy(master, known));
    }

    private Optional<Duration> applyPolicy(RedlockMaster master, MasterHandshakeReply handshake) {
        QuarantinePolicy.MasterState state = handshake.stateAt(context.clock().now());
        QuarantinePolicy.Decision decision = decide(master, handshake, state, RedlockMaster::peerState);
        if (decision instanceof QuarantinePolicy.Decision.Leave && leaving.add(master)) {
            leaveQuarantine(master, handshake);
        }
        return untilNextHandshake(master, handshake, state, decision);
    }

    /** Records why a master stays in quarantine, if it does, and returns the time until the next handshake with it. */
    private Optional<Duration> untilNextHandshake(
            RedlockMaster master,
            MasterHandshakeReply handshake,
            QuarantinePolicy.MasterState state,
            QuarantinePolicy.Decision decision) {
        if (decision instanceof QuarantinePolicy.Decision.Stay stay) {
            master.staysInQuarantine(handshake, stay.time());
        } else if (decision instanceof QuarantinePolicy.Decision.MaxLeaseConflict && handshake.agreesOnMaxLease()) {
            // A client whose maxLease may be wrong must not decide how long the master stays in quarantine.
            masters.peersOf(master).stream()
                    .filter(other -> other.peerState() == QuarantinePolicy.PeerState.MAX_LEASE_DIFFERS)
                    .findFirst()
                    .flatMap(RedlockMaster::failure)
                    .ifPresent(master::handshakeFailed);
        }
        return QuarantinePolicy.untilNextHandshake(state, decision, jitter());
    }

    /** Returns a random delay, so that the clients do not all send their requests at the same moment. */
    private static Duration jitter() {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(QuarantinePolicy.LONGEST_JITTER.toNanos()));
    }

    private QuarantinePolicy.Decision decide(
            RedlockMaster master,
            MasterHandshakeReply handshake,
            QuarantinePolicy.MasterState state,
            Function<RedlockMaster, QuarantinePolicy.PeerState> peerState) {
        return new QuarantinePolicy(masters.quorum(), maxLease, isNew(handshake))
                .decide(state, masters.peersOf(master).stream().map(peerState).toList());
    }

    private boolean isNew(MasterHandshakeReply handshake) {
        return exemptMasters.contains(handshake.incarnation());
    }

    private void leaveQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        // The first step is a stage too, so that the last one follows whichever throws.
        CompletableFuture.completedStage(masters.peersOf(master))
                .thenCompose(exit::readCounters)
                .thenCompose(counters -> leaveQuarantine(master, handshake, counters))
                .whenComplete((next, failure) -> {
                    leaving.remove(master);
                    if (failure != null) {
                        master.handshakeFailed(failure);
                        log.debug("event=quarantine-not-left master={}", master.endpoint(), failure);
                    }
                    Optional<Duration> pause =
                            failure == null ? next : Optional.of(MasterHandshakes.PAUSE_AFTER_FAILURE);
                    pause.ifPresentOrElse(
                            time -> handshakesWith(master).startAfter(time, master.node()),
                            () -> handshakesWith(master).start(master.node()));
                });
    }

    /**
     * Lets a master leave quarantine with these counters of its peers, if they are sufficient; completes with the time until the next
     * handshake, which is empty if it has left.
     */
    private CompletionStage<Optional<Duration>> leaveQuarantine(
            RedlockMaster master, MasterHandshakeReply handshake, Map<RedlockMaster, List<Long>> counters) {
        QuarantinePolicy.MasterState state = handshake.stateAt(context.clock().now());
        QuarantinePolicy.Decision decision = decide(
                master,
                handshake,
                state,
                peer -> counters.containsKey(peer)
                        ? peer.peerState()
                        : peer.peerState().withoutCounters());
        if (!(decision instanceof QuarantinePolicy.Decision.Leave leave)) {
            // A peer may only have been late: its next reply lets this master vote.
            return CompletableFuture.completedStage(untilNextHandshake(master, handshake, state, decision)
                    .map(pause -> Durations.shorter(pause, LONGEST_PAUSE_WITHOUT_COUNTERS)));
        }
        return exit.leave(handshake, isNew(handshake), counters.values(), leave.raiseToClock())
                .thenApply(left -> {
                    if (!left) {
                        return Optional.of(MasterHandshakes.PAUSE_AFTER_FAILURE);
                    }
                    log.info("event=quarantine-left master={} by_clock={}", master.endpoint(), leave.raiseToClock());
                    return Optional.empty();
                });
    }

    /** Records that a request on the connection of that handshake received no reply in time. */
    public void replyMissing(RedlockMaster master, MasterHandshakeReply handshake, MonotonicInstant sent) {
        if (master.health().replyMissing(sent)) {
            log.info("event=master-lags master={}", master.endpoint());
            handshakesWith(master).repeat(handshake);
        }
    }

    /** Repeats the handshake with a master after a reply that shows that the master may have forgotten votes. */
    public void enterQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        if (master.discardHandshake(handshake)) {
            handshakesWith(master).repeat(handshake);
        }
    }
}
