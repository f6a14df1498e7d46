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

/** All masters of one client, and whether a majority of them votes. Thread-safe. */
public final class RedlockMasters {
    private final Quorum quorum;
    private final LockClock clock;
    private final CompletableFuture<Void> majorityVotes = new CompletableFuture<>();
    private volatile List<RedlockMaster> all = List.of();

    public RedlockMasters(Quorum quorum, LockClock clock) {
        this.quorum = quorum;
        this.clock = clock;
    }

    /** Sets the masters in their order; called once, before any is started. */
    public void set(List<RedlockMaster> masters) {
        all = List.copyOf(masters);
    }

    /** Returns all masters in their order. */
    public List<RedlockMaster> all() {
        return all;
    }

    /** Returns the connected masters, whether they vote or not, once each was tried: a client is open with a majority. */
    public CompletionStage<List<RedlockMaster>> reachable() {
        return CompletableFuture.allOf(
                        all.stream().map(RedlockMaster::connectTried).toArray(CompletableFuture[]::new))
                .thenApply(ok -> all.stream()
                        .filter(master -> master.node().isConnected())
                        .toList());
    }

    List<RedlockMaster> othersThan(RedlockMaster master) {
        List<RedlockMaster> others = new ArrayList<>(all);
        others.remove(master);
        return others;
    }

    /** Returns how many masters decide. */
    public Quorum quorum() {
        return quorum;
    }

    /** Completes once a majority votes; fails if so many masters refuse this client that waiting cannot help. */
    public CompletableFuture<Void> majorityVotes() {
        return majorityVotes;
    }

    /** Returns whether a majority has voted at any time since the client was opened. */
    boolean hadMajority() {
        return majorityVotes.isDone() && !majorityVotes.isCompletedExceptionally();
    }

    /** Returns in what time a majority votes if it needs nothing but time; empty if something else is missing. */
    Optional<Duration> majorityIn() {
        return all.stream()
                .flatMap(master -> master.votesIn().stream())
                .sorted()
                .skip(quorum.majority() - 1L)
                .findFirst();
    }

    /** Returns a queue position for all masters: the time on the clock of the first that votes, in µs; empty if none votes. */
    public Optional<String> queuePosition() {
        for (RedlockMaster master : all) {
            MasterHandshakeReply voting = master.voting();
            if (voting != null) {
                return Optional.of(
                        String.valueOf(voting.node().time().atMost(clock.now()).micros()));
            }
        }
        return Optional.empty();
    }

    /** Decides anew whether a majority votes, after the state of a master has changed. */
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

    /** Returns an error if another master is the same server, which would have two votes. */
    Optional<LockConfigurationException> sameServer(RedlockMaster master, String runId) {
        return othersThan(master).stream()
                .filter(other -> other.handshake()
                        .filter(known -> known.runId().equals(runId))
                        .isPresent())
                .findFirst()
                .map(other -> new LockConfigurationException(master.endpoint() + " and " + other.endpoint()
                        + " are one server, which would have two votes: name each master once"));
    }
}
