// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.EvictionCheck;
import io.mortise.lock.redis.node.InitialConnection;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** All masters, and whether a majority of them votes. Thread-safe. */
final class Masters {
    private final Quorum quorum;
    private final LockClock clock;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private volatile List<Master> all = List.of();

    Masters(Quorum quorum, LockClock clock) {
        this.quorum = quorum;
        this.clock = clock;
    }

    /** In their order; once, before any is started. */
    void are(List<Master> masters) {
        all = List.copyOf(masters);
    }

    List<Master> all() {
        return all;
    }

    /** Those that can be asked, whether they vote or not, once each has been tried: a client is open with a majority. */
    CompletionStage<List<Master>> reachable() {
        return CompletableFuture.allOf(all.stream().map(Master::tried).toArray(CompletableFuture[]::new))
                .thenApply(ok -> all.stream()
                        .filter(master -> master.node().isConnected())
                        .toList());
    }

    List<Master> othersThan(Master master) {
        List<Master> others = new ArrayList<>(all);
        others.remove(master);
        return others;
    }

    Quorum quorum() {
        return quorum;
    }

    /** Completes once a majority votes; fails if so many refuse us that somebody must change that first. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    /** Whether a majority has voted at any time since the client was opened. */
    boolean hadQuorum() {
        return ready.isDone() && !ready.isCompletedExceptionally();
    }

    /** In what time a majority votes if all that it needs is time: empty if something else is missing. */
    Optional<Duration> quorumIn() {
        return all.stream()
                .flatMap(master -> master.votesIn().stream())
                .sorted()
                .skip(quorum.majority() - 1L)
                .findFirst();
    }

    /** For a place in line, the same at all masters: what the clock of one of them shows by now, in µs. Empty if none votes. */
    Optional<String> place() {
        for (Master master : all) {
            Master.Greeted voting = master.voting();
            if (voting != null) {
                return Optional.of(String.valueOf(voting.node().time().atMost(clock.nanoTime())));
            }
        }
        return Optional.empty();
    }

    /** What is known of one of them has changed. */
    void changed() {
        if (all.stream().filter(master -> master.voting() != null).count() >= quorum.majority()) {
            ready.complete(null);
            return;
        }
        List<LockException> refusals = new ArrayList<>();
        for (Master master : all) {
            master.failure()
                    .map(failure -> InitialConnection.explained(failure, master.endpoint()))
                    .filter(failure -> !(failure instanceof BackendUnavailableException))
                    .ifPresent(refusals::add);
        }
        if (refusals.size() > quorum.spare()) {
            ready.completeExceptionally(refusals.get(0));
        }
    }

    /** One server by two names would have two votes. Names the other one. */
    Optional<LockConfigurationException> twinOf(Master master, String run) {
        return othersThan(master).stream()
                .filter(other ->
                        other.greeted().filter(said -> said.run().equals(run)).isPresent())
                .findFirst()
                .map(other -> new LockConfigurationException(master.endpoint() + " and " + other.endpoint()
                        + " are one server, which would have two votes"));
    }

    /**
     * What happens on the connections of one master.
     *
     * @param told of what it publishes
     */
    NodeListener listener(int index, Admissions admissions, NodeListener told) {
        return new NodeListener() {
            @Override
            public void message(RedisNode from, String text) {
                told.message(from, text);
            }

            @Override
            public void listening(RedisNode node) {
                admissions.greet(all.get(index), node);
            }

            @Override
            public void opened(RedisNode node) {
                EvictionCheck.warn(node);
            }

            @Override
            public void trouble(RedisNode node, Throwable cause) {
                changed();
            }
        };
    }
}
