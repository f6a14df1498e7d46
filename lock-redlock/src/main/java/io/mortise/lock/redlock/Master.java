// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.InitialConnection;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One master as seen from here: its connection, and whether its vote counts on it. Thread-safe. */
final class Master {
    private final int index;
    private final BackgroundConnect opening;
    private final CompletableFuture<Void> tried = new CompletableFuture<>();
    private final Pace pace;
    private final Leftovers leftovers = new Leftovers();
    private volatile @Nullable Greeted greeted;
    private volatile @Nullable Throwable refused;
    private volatile Duration waits = Duration.ZERO;

    /**
     * What it said of itself on one connection.
     *
     * @param node of that connection
     * @param epoch of that connection
     * @param run the id of its process
     * @param standing as it was then
     * @param agrees whether it knows of no other longest lease than this client
     * @param atNanos then, on our clock
     */
    record Greeted(RedisNode node, int epoch, String run, Admission.Standing standing, boolean agrees, long atNanos) {
        boolean votes() {
            return standing.admitted() && agrees && stands();
        }

        /** That connection is the present one. */
        boolean stands() {
            return node.epoch() == epoch && node.isConnected();
        }

        NewMasters.Life life() {
            return new NewMasters.Life(run, standing.sinceMicros().orElse(0));
        }

        Admission.Standing at(long nanos) {
            return standing.later((nanos - atNanos) / 1_000);
        }
    }

    Master(int index, BackgroundConnect opening, LockClock clock) {
        this.index = index;
        this.opening = opening;
        this.pace = new Pace(clock);
        opening.node().whenOpen(failure -> tried.complete(null));
    }

    int index() {
        return index;
    }

    RedisNode node() {
        return opening.node();
    }

    BackgroundConnect opening() {
        return opening;
    }

    String endpoint() {
        return opening.node().endpoints();
    }

    /** Completes once it is connected for the first time, or that has failed: within the request timeout. */
    CompletableFuture<Void> tried() {
        return tried;
    }

    /** Whether it answers in time. */
    Pace pace() {
        return pace;
    }

    /** What is to be taken away there. */
    Leftovers leftovers() {
        return leftovers;
    }

    synchronized void greeted(Greeted said) {
        greeted = said;
        refused = null;
        pace.greeted();
    }

    /** It does not say what it is, or does not let us ask. */
    void refused(Throwable why) {
        refused = why;
    }

    /** It has to wait so long from now before it can vote. */
    void waits(Duration rest) {
        waits = rest;
    }

    /** In what time it votes if all that it needs is time: zero if it does already. */
    Optional<Duration> votesIn() {
        return refused != null ? Optional.empty() : greeted().map(said -> said.votes() ? Duration.ZERO : waits);
    }

    /** What it said on the present connection, if it did. */
    Optional<Greeted> greeted() {
        return Optional.ofNullable(greeted).filter(Greeted::stands);
    }

    /** As {@link #greeted}, if its vote counts; null otherwise: asked for every vote. */
    @Nullable
    Greeted voting() {
        Greeted said = greeted;
        return said != null && said.votes() ? said : null;
    }

    /** As {@link #voting}, if it keeps up with what it is asked: only then it is asked for another vote. */
    @Nullable
    Greeted electable() {
        return pace.lags() || leftovers.tooMany() ? null : voting();
    }

    /** It may have forgotten everything since. True if nobody else has found that already: it is to be greeted again. */
    synchronized boolean doubt(Greeted said) {
        boolean first = said.equals(greeted);
        if (first) {
            greeted = null;
        }
        return first;
    }

    Admission.Other asOther() {
        return greeted().map(Master::asOther).orElse(Admission.Other.SILENT);
    }

    private static Admission.Other asOther(Greeted said) {
        if (!said.agrees) {
            return Admission.Other.DISAGREES;
        }
        return said.votes()
                ? Admission.Other.ADMITTED
                : said.standing.isEmpty() ? Admission.Other.EMPTY : Admission.Other.FORGETFUL;
    }

    /** Present if it knows nothing at all. */
    Optional<NewMasters.Life> emptyLife() {
        return asOther() == Admission.Other.EMPTY ? greeted().map(Greeted::life) : Optional.empty();
    }

    /** Why its vote does not count, for people. */
    String why() {
        Optional<Greeted> said = greeted();
        Throwable failure = refused;
        if (said.isPresent() && (failure == null || said.get().votes())) {
            return said.get().votes()
                    ? whyNotAsked()
                    : "it is new, was restarted or has lost its data, and votes in " + waits.toMillis()
                            + " ms: until then it may have forgotten a lease";
        }
        if (!node().isConnected()) {
            return "not connected"
                    + opening.failure()
                            .map(why -> ": "
                                    + InitialConnection.explained(why, endpoint())
                                            .getMessage())
                            .orElse("");
        }
        return failure == null ? "it has not said yet whether it was restarted" : String.valueOf(failure.getMessage());
    }

    private String whyNotAsked() {
        return pace.lags()
                ? "it lags: " + Pace.MOST_UNANSWERED + " requests in a row had no answer within "
                        + node().requestTimeout().toMillis() + " ms"
                : leftovers.tooMany()
                        ? "it lags: it has not yet taken away what " + leftovers.size()
                                + " attempts may have left there"
                        : "it votes now, but had no part in this";
    }

    /** Why it cannot be asked at all, if nobody can change that but people. */
    Optional<Throwable> failure() {
        return Optional.ofNullable(refused).or(opening::failure);
    }

    /** What counts for its vote then. */
    Vote abstains() {
        return new Vote.Failed(new BackendUnavailableException(why()));
    }
}
