// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One master as a client sees it: its connection, its last handshake and its health. Thread-safe. */
public final class RedlockMaster {
    private final int index;
    private final BackgroundConnect connector;
    private final LockClock clock;
    private final CompletableFuture<Void> firstConnectAttempt = new CompletableFuture<>();
    private final MasterHealth health;
    private final CleanupBacklogCounter cleanupBacklog = new CleanupBacklogCounter();
    private volatile @Nullable MasterHandshakeReply handshake;
    private volatile @Nullable Throwable handshakeFailure;
    private volatile MonotonicInstant quarantineEnd;

    public RedlockMaster(int index, BackgroundConnect connector, LockClock clock) {
        this.index = index;
        this.connector = connector;
        this.clock = clock;
        this.health = new MasterHealth(clock);
        this.quarantineEnd = clock.now();
        connector.node().whenOpen(failure -> firstConnectAttempt.complete(null));
    }

    /** Returns the position of this master in the list of masters. */
    public int index() {
        return index;
    }

    /** Returns the node of the current connection. */
    public RedisNodeClient node() {
        return connector.node();
    }

    /** Returns the object that opens the connection to this master. */
    public BackgroundConnect connector() {
        return connector;
    }

    /** Returns the address of this master, without secrets. */
    public String endpoint() {
        return connector.node().endpoints();
    }

    /** Returns a future that completes when the first connect attempt has succeeded or failed, within the request timeout. */
    CompletableFuture<Void> firstConnectAttempt() {
        return firstConnectAttempt;
    }

    /** Returns the health of this master. */
    public MasterHealth health() {
        return health;
    }

    /** Returns the counter of cleanups that are pending at this master. */
    public CleanupBacklogCounter cleanupBacklog() {
        return cleanupBacklog;
    }

    synchronized void handshakeSucceeded(MasterHandshakeReply reply) {
        health.handshakeSucceeded();
        handshake = reply;
        handshakeFailure = null;
    }

    /**
     * Records that the handshake has failed, or that the master must not vote for this client.
     *
     * @return whether the reason is another one than before
     */
    synchronized boolean handshakeFailed(Throwable why) {
        Throwable before = handshakeFailure;
        handshakeFailure = why;
        return before == null || !before.toString().equals(why.toString());
    }

    /**
     * Records how long from now the master stays in quarantine, and that its peers agree again on the longest lease. A decision on a
     * handshake that is no longer the last one changes nothing.
     */
    synchronized void staysInQuarantine(MasterHandshakeReply decidedOn, Duration remaining) {
        if (!decidedOn.equals(handshake)) {
            return;
        }
        if (handshakeFailure instanceof LockConfigurationException) {
            handshakeFailure = null;
        }
        quarantineEnd = clock.now().plus(remaining);
    }

    private Duration quarantineRemaining() {
        return Durations.longer(Duration.ZERO, clock.until(quarantineEnd));
    }

    /**
     * Returns the time until this master votes, zero if it votes already; empty if anything but a quarantine prevents its vote.
     */
    Optional<Duration> votesIn() {
        return handshakeFailure != null
                ? Optional.empty()
                : handshake().map(known -> known.isVoting() ? Duration.ZERO : quarantineRemaining());
    }

    /** Returns the last handshake if it belongs to the current connection. */
    Optional<MasterHandshakeReply> handshake() {
        return Optional.ofNullable(handshake).filter(MasterHandshakeReply::isCurrent);
    }

    /**
     * Returns the current handshake if the votes of this master count, else null. Not an Optional, since it is called for every
     * vote.
     */
    @Nullable
    public MasterHandshakeReply voting() {
        MasterHandshakeReply known = handshake;
        return known != null && known.isVoting() ? known : null;
    }

    /** Returns the same as {@link #voting} if further votes may be requested from this master, else null. */
    @Nullable
    public MasterHandshakeReply eligibleVoter() {
        return health.isLagging() || cleanupBacklog.isFull() ? null : voting();
    }

    /**
     * Discards the last handshake if it says that the master votes, after a reply on the same connection that says otherwise.
     *
     * @param earlier handshake by which the request was sent; there may have been another one since
     * @return true to the first caller, which has to repeat the handshake
     */
    synchronized boolean discardHandshake(MasterHandshakeReply earlier) {
        MasterHandshakeReply voting = voting();
        boolean first = voting != null && voting.epoch() == earlier.epoch();
        if (first) {
            handshake = null;
        }
        return first;
    }

    QuarantinePolicy.PeerState peerState() {
        return handshake().map(RedlockMaster::peerState).orElse(QuarantinePolicy.PeerState.UNREACHABLE);
    }

    private static QuarantinePolicy.PeerState peerState(MasterHandshakeReply known) {
        if (!known.agreesOnMaxLease()) {
            return QuarantinePolicy.PeerState.MAX_LEASE_DIFFERS;
        }
        return known.isVoting()
                ? QuarantinePolicy.PeerState.VOTING
                : known.state().isEmpty() ? QuarantinePolicy.PeerState.EMPTY : QuarantinePolicy.PeerState.QUARANTINED;
    }

    /** Returns the incarnation of this master if it has no data. */
    Optional<TestOnlyQuarantineExemptions.Incarnation> emptyIncarnation() {
        return peerState() == QuarantinePolicy.PeerState.EMPTY
                ? handshake().map(MasterHandshakeReply::incarnation)
                : Optional.empty();
    }

    /** Returns a human-readable reason why this master does not vote. */
    public String whyNotVoting() {
        Optional<MasterHandshakeReply> known = handshake();
        Throwable failure = handshakeFailure;
        if (known.isPresent() && (failure == null || known.get().isVoting())) {
            return known.get().isVoting()
                    ? whyNotEligible()
                    : "in quarantine for " + quarantineRemaining().toMillis()
                            + " ms: it is new, was restarted or has lost its data, and may have forgotten a lease";
        }
        if (!node().isConnected()) {
            return "not connected"
                    + connector
                            .failure()
                            .map(why -> ": "
                                    + InitialConnection.explained(why, endpoint())
                                            .getMessage())
                            .orElse("");
        }
        return failure == null ? "its handshake is not complete yet" : String.valueOf(failure.getMessage());
    }

    private String whyNotEligible() {
        return health.isLagging()
                ? "it lags: " + MasterHealth.MAX_MISSING_REPLIES + " requests in a row had no answer within "
                        + node().requestTimeout().toMillis() + " ms"
                : cleanupBacklog.isFull()
                        ? "it lags: the cleanup of " + cleanupBacklog.size() + " attempts is pending there"
                        : "it votes now, but its vote did not count in this round";
    }

    /** Returns the last failure of the connection or the handshake. */
    Optional<Throwable> failure() {
        return Optional.ofNullable(handshakeFailure).or(connector::failure);
    }

    /**
     * Returns the failed vote of a master that received no request, or whose reply does not count.
     *
     * @param mayHaveGranted whether the master may nevertheless have granted the lock
     */
    public MasterVote abstention(boolean mayHaveGranted) {
        return new MasterVote.Failed(new BackendUnavailableException(whyNotVoting()), mayHaveGranted);
    }
}
