// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One master as this client sees it: its connection, its last handshake, and whether it is asked for votes. Thread-safe. */
public final class RedlockMaster {
    private final int index;
    private final BackgroundConnect opening;
    private final CompletableFuture<Void> connectTried = new CompletableFuture<>();
    private final MasterHealth health;
    private final CleanupBacklogCounter cleanupBacklog = new CleanupBacklogCounter();
    private volatile @Nullable MasterHandshakeReply handshake;
    private volatile @Nullable Throwable handshakeFailure;
    private volatile Duration quarantineLeft = Duration.ZERO;

    public RedlockMaster(int index, BackgroundConnect opening, LockClock clock) {
        this.index = index;
        this.opening = opening;
        this.health = new MasterHealth(clock);
        opening.node().whenOpen(failure -> connectTried.complete(null));
    }

    /** Returns its position in the list of masters. */
    public int index() {
        return index;
    }

    /** Returns the node of the current connection. */
    public RedisNodeClient node() {
        return opening.node();
    }

    /** Returns what opens its connection. */
    public BackgroundConnect opening() {
        return opening;
    }

    /** Returns its address without secrets. */
    public String endpoint() {
        return opening.node().endpoints();
    }

    /** Completes once the first try to connect has succeeded or failed: within the request timeout. */
    CompletableFuture<Void> connectTried() {
        return connectTried;
    }

    /** Returns whether it answers in time. */
    public MasterHealth health() {
        return health;
    }

    /** Returns the cleanups that are pending there. */
    public CleanupBacklogCounter cleanupBacklog() {
        return cleanupBacklog;
    }

    synchronized void handshakeSucceeded(MasterHandshakeReply answer) {
        handshake = answer;
        handshakeFailure = null;
        health.handshakeSucceeded();
    }

    /** Records that the handshake failed, or that the master must not vote for this client. */
    void handshakeFailed(Throwable why) {
        handshakeFailure = why;
    }

    /** Records how long from now the master stays in quarantine. */
    void quarantineLeft(Duration left) {
        quarantineLeft = left;
    }

    /** Returns in what time it votes if it needs nothing but time; zero if it votes. */
    Optional<Duration> votesIn() {
        return handshakeFailure != null
                ? Optional.empty()
                : handshake().map(known -> known.isVoting() ? Duration.ZERO : quarantineLeft);
    }

    /** Returns the handshake of the current connection. */
    Optional<MasterHandshakeReply> handshake() {
        return Optional.ofNullable(handshake).filter(MasterHandshakeReply::isCurrent);
    }

    /** Returns the current handshake if its votes count, else null: called for every vote, so without an Optional. */
    @Nullable
    public MasterHandshakeReply voting() {
        MasterHandshakeReply known = handshake;
        return known != null && known.isVoting() ? known : null;
    }

    /** Returns what {@link #voting} returns if the master keeps up, else null: only then it is asked for another vote. */
    @Nullable
    public MasterHandshakeReply electable() {
        return health.isLagging() || cleanupBacklog.isFull() ? null : voting();
    }

    /** Forgets a handshake that is in doubt; true if the caller is the first to do so and has to repeat it. */
    synchronized boolean discardHandshake(MasterHandshakeReply doubtful) {
        boolean first = doubtful.equals(handshake);
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

    /** Returns the master's incarnation if it has no data. */
    Optional<QuarantineExemptMasters.Incarnation> emptyIncarnation() {
        return peerState() == QuarantinePolicy.PeerState.EMPTY
                ? handshake().map(MasterHandshakeReply::incarnation)
                : Optional.empty();
    }

    /** Explains to people why the master does not vote. */
    public String whyNotVoting() {
        Optional<MasterHandshakeReply> known = handshake();
        Throwable failure = handshakeFailure;
        if (known.isPresent() && (failure == null || known.get().isVoting())) {
            return known.get().isVoting()
                    ? whyNotElectable()
                    : "in quarantine for " + quarantineLeft.toMillis()
                            + " ms: it is new, was restarted or has lost its data, and may have forgotten a lease";
        }
        if (!node().isConnected()) {
            return "not connected"
                    + opening.failure()
                            .map(why -> ": "
                                    + InitialConnection.explained(why, endpoint())
                                            .getMessage())
                            .orElse("");
        }
        return failure == null ? "its handshake is not complete yet" : String.valueOf(failure.getMessage());
    }

    private String whyNotElectable() {
        return health.isLagging()
                ? "it lags: " + MasterHealth.MAX_UNANSWERED + " requests in a row had no answer within "
                        + node().requestTimeout().toMillis() + " ms"
                : cleanupBacklog.isFull()
                        ? "it lags: the cleanup of " + cleanupBacklog.size() + " attempts is pending there"
                        : "it votes now, but had no part in this";
    }

    /** Returns the last failure of the connection or the handshake. */
    Optional<Throwable> failure() {
        return Optional.ofNullable(handshakeFailure).or(opening::failure);
    }

    /** Returns the vote that counts for a master that is not asked. */
    public MasterVote abstention() {
        return new MasterVote.Failed(new BackendUnavailableException(whyNotVoting()));
    }
}
