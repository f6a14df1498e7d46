// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Holds the masters of one client, and reports when a majority of them is able to vote. Thread-safe. */
public final class RedlockMasters {
    private final Quorum quorum;
    private final LockClock clock;
    private final CompletableFuture<Void> majorityVotes = new CompletableFuture<>();
    private volatile List<RedlockMaster> all = List.of();

    public RedlockMasters(Quorum quorum, LockClock clock) {
        this.quorum = quorum;
        this.clock = clock;
    }

    /** Sets the masters in their configured order; called once, before the first connection is started. */
    public void set(List<RedlockMaster> masters) {
        all = List.copyOf(masters);
    }

    /** Returns all masters in their configured order. */
    public List<RedlockMaster> all() {
        return all;
    }

    /**
     * Returns all connected masters, whether they vote or not. Completes only after one connect attempt at each master, since a
     * client opens as soon as a majority votes.
     */
    public CompletionStage<List<RedlockMaster>> reachable() {
        return CompletableFuture.allOf(
                        all.stream().map(RedlockMaster::firstConnectAttempt).toArray(CompletableFuture[]::new))
                .thenApply(ok -> all.stream()
                        .filter(master -> master.node().isConnected())
                        .toList());
    }

    List<RedlockMaster> peersOf(RedlockMaster master) {
        List<RedlockMaster> others = new ArrayList<>(all);
        others.remove(master);
        return others;
    }

    /** Returns the quorum of all masters. */
    public Quorum quorum() {
        return quorum;
    }

    /**
     * Returns a future that completes when a majority votes, and fails if so many masters refuse this client that none is
     * possible.
     */
    public CompletableFuture<Void> majorityVotes() {
        return majorityVotes;
    }

    /** Returns whether a majority has voted at any time since the client was opened. */
    boolean hadMajority() {
        return majorityVotes.isDone() && !majorityVotes.isCompletedExceptionally();
    }

    /** Returns the time until a majority votes if only quarantines prevent it; empty if anything else prevents it. */
    Optional<Duration> majorityIn() {
        return all.stream()
                .flatMap(master -> master.votesIn().stream())
                .sorted()
                .skip(quorum.majority() - 1L)
                .findFirst();
    }

    /** Returns a queue position for all masters: the clock of the first voting master, in µs; empty if no master votes. */
    public Optional<String> queuePosition() {
        for (RedlockMaster master : all) {
            MasterHandshakeReply voting = master.voting();
            if (voting != null) {
                return Optional.of(String.valueOf(voting.node()
                        .serverClock()
                        .latestTimeAt(clock.now(), Duration.ZERO)
                        .micros()));
            }
        }
        return Optional.empty();
    }

    /** Checks again whether a majority votes, after the state of a master has changed. */
    void stateChanged() {
        if (all.stream().filter(master -> master.voting() != null).count() >= quorum.majority()) {
            majorityVotes.complete(null);
            return;
        }
        List<LockException> refusals = new ArrayList<>();
        for (RedlockMaster master : all) {
            master.failure()
                    .map(failure -> InitialConnection.explained(failure, master.endpoint()))
                    .filter(failure -> !(failure instanceof BackendUnavailableException))
                    .ifPresent(refusals::add);
        }
        if (refusals.size() > quorum.maxFailures()) {
            majorityVotes.completeExceptionally(refusals.get(0));
        }
    }

    /**
     * Records the reply to a handshake, or returns an error if another configured master is the same server, which would then have
     * two votes. Synchronized, so that of two handshakes that end at the same time one sees the other.
     */
    synchronized Optional<LockConfigurationException> handshakeSucceeded(
            RedlockMaster master, MasterHandshakeReply reply) {
        Optional<RedlockMaster> same = peersOf(master).stream()
                .filter(other -> other.handshake()
                        .filter(known -> known.runId().equals(reply.runId()))
                        .isPresent())
                .findFirst();
        if (same.isEmpty()) {
            master.handshakeSucceeded(reply);
        }
        return same.map(other -> new LockConfigurationException(master.endpoint() + " and " + other.endpoint()
                + " are one server, which would have two votes: name each master once"));
    }
}
