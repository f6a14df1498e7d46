// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.SentinelAnswer.HostAndPort;
import io.mortise.lock.redis.node.OwnUri;
import io.mortise.lock.redis.node.RedisFailure;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the sentinels whether a majority of them names the very server that the client's connection leads to. A grant or a renewal
 * counts no later than from such an answer: whoever is cut off together with an old master stops believing within one lease
 * (ADR 0030). Asks only when somebody acquires or renews. Thread-safe.
 */
final class SentinelQuorum {
    private static final Logger log = LoggerFactory.getLogger(SentinelQuorum.class);

    /** An answer stands for as much of a lease without being asked for again. */
    private static final int FRESH_PART = 6;

    /** Lettuce asks the first sentinel that answers, which may be one of a minority: not again and again at once. */
    private static final Duration BETWEEN_MOVES = Duration.ofSeconds(1);

    private static final Duration BETWEEN_FAILURES = Duration.ofMillis(100);

    private final RedisClient client;
    private final BackendContext context;
    private final String master;
    private final RedisURI first;
    private final int configured;
    private final Duration limit;

    @GuardedBy("this")
    private final Map<HostAndPort, SentinelConnection> known = new LinkedHashMap<>();

    @GuardedBy("this")
    private @Nullable Question latest;

    @GuardedBy("this")
    private boolean silent;

    @GuardedBy("this")
    private long movedNanos;

    @GuardedBy("this")
    private boolean moved;

    private volatile @Nullable Confirmation confirmation;

    /** A majority named the server of that connection; when it was asked. */
    private record Confirmation(int epoch, long sentNanos) {}

    /** @param uri names the sentinels and the master */
    SentinelQuorum(RedisClient client, RedisURI uri, BackendContext context) {
        this.client = client;
        this.context = context;
        this.master = uri.getSentinelMasterId();
        this.first = uri.getSentinels().get(0);
        this.limit = context.requestTimeout().dividedBy(2); // the rest is for giving a grant back
        uri.getSentinels()
                .forEach(sentinel -> known.put(
                        new HostAndPort(sentinel.getHost(), sentinel.getPort()), connection(new OwnUri(sentinel))));
        this.configured = known.size();
    }

    private SentinelConnection connection(RedisURI uri) {
        uri.setClientName("mortise-" + context.clientId());
        return new SentinelConnection(client, uri, context.blocking());
    }

    /** A sentinel that another told of has the credentials and TLS of the first. */
    private SentinelConnection connection(HostAndPort told) {
        RedisURI uri = new OwnUri(first);
        uri.setHost(told.host());
        uri.setPort(told.port());
        return connection(uri);
    }

    /**
     * Completes with the instant from which a grant counts at the latest, when a majority of the sentinels names the server of
     * this node's present connection. Fails with {@link BackendUnavailableException} if none does within half a request timeout.
     *
     * @param lease whose length says how old an answer may be
     */
    CompletableFuture<Long> named(RedisNode node, Duration lease) {
        int epoch = node.epoch();
        long oldest = context.clock().nanoTime() - lease.toNanos() / FRESH_PART;
        Confirmation latestYes = confirmation;
        if (latestYes != null && latestYes.epoch == epoch && latestYes.sentNanos - oldest >= 0) {
            return CompletableFuture.completedFuture(latestYes.sentNanos);
        }
        Optional<SocketAddress> server = node.remote();
        if (server.isEmpty()) {
            return CompletableFuture.failedFuture(
                    new BackendUnavailableException("no connection to the master that " + node.endpoints() + " names"));
        }
        Question question;
        List<SentinelConnection> asked;
        synchronized (this) {
            Question underWay = latest;
            if (underWay != null && underWay.epoch == epoch && underWay.isRecent(oldest)) {
                return underWay.done;
            }
            asked = List.copyOf(known.values());
            question = new Question(node, epoch, server.get(), asked);
            latest = question;
        }
        question.ask(asked);
        return question.done;
    }

    /** What endangers locks: asks anew. */
    CompletionStage<List<Finding>> diagnose(RedisNode node) {
        return named(node, Duration.ZERO).handle((named, failure) -> {
            if (failure != null) {
                return List.of(new Finding(
                        Severity.ERROR,
                        String.valueOf(failure.getMessage()),
                        "see to the sentinels and the way to them: no lock is granted, and leases end"));
            }
            int sentinels;
            synchronized (this) {
                sentinels = latest == null ? 0 : latest.ballot.sentinels();
            }
            return sentinels < 3
                    ? List.of(new Finding(
                            Severity.WARNING,
                            "of sentinels there are " + sentinels,
                            "run three or more: with fewer, one failure stops all locks"))
                    : List.<Finding>of();
        });
    }

    /** Returns when that was last asked of which a majority said that it names the server of that connection. */
    OptionalLong lastNamed(int epoch) {
        Confirmation last = confirmation;
        return last == null || last.epoch != epoch ? OptionalLong.empty() : OptionalLong.of(last.sentNanos);
    }

    private final class Question {
        private final RedisNode node;
        private final int epoch;
        private final long sentNanos = context.clock().nanoTime();
        private final SentinelBallot ballot;
        private final CompletableFuture<Long> done = new CompletableFuture<>();
        private final LockClock.Timer timer = context.clock().schedule(limit, this::overdue);

        @GuardedBy("SentinelQuorum.this")
        private final Set<SentinelConnection> outstanding;

        @GuardedBy("SentinelQuorum.this")
        private final Set<HostAndPort> told = new LinkedHashSet<>();

        @GuardedBy("SentinelQuorum.this")
        private final List<String> failures = new ArrayList<>();

        Question(RedisNode node, int epoch, SocketAddress server, List<SentinelConnection> asked) {
            this.outstanding = new LinkedHashSet<>(asked);
            this.node = node;
            this.epoch = epoch;
            this.ballot = new SentinelBallot(server, configured);
        }

        /** One that has just failed is not asked again at once for each of those who retry. */
        boolean isRecent(long oldest) {
            return sentNanos - oldest >= 0
                    && (!done.isDone() || context.clock().nanoTime() - sentNanos < BETWEEN_FAILURES.toNanos());
        }

        void ask(List<SentinelConnection> sentinels) {
            sentinels.forEach(sentinel -> sentinel.ask(master).whenComplete((answer, failure) -> {
                if (failure == null) {
                    answered(sentinel, answer);
                } else {
                    failed(sentinel, failure);
                }
            }));
        }

        private void answered(SentinelConnection sentinel, SentinelAnswer answer) {
            List<SentinelConnection> more;
            boolean alias;
            boolean confirmed;
            Optional<String> another;
            synchronized (SentinelQuorum.this) {
                outstanding.remove(sentinel);
                alias = !ballot.add(answer);
                told.addAll(answer.others());
                confirmed = ballot.confirmed();
                another = ballot.anotherMaster();
                more = recruit();
            }
            if (alias) {
                log.debug("event=sentinel-alias endpoint={}", sentinel.endpoint());
            }
            ask(more);
            if (confirmed) {
                succeed();
            } else if (another.isPresent()) {
                fail("a majority names " + another.get());
                leave(node, epoch, another.get());
            } else {
                failIfAllAnswered();
            }
        }

        /** Sentinels that others know are asked too, until as many are as there should be. */
        @GuardedBy("SentinelQuorum.this")
        private List<SentinelConnection> recruit() {
            List<SentinelConnection> recruits = new ArrayList<>();
            for (Iterator<HostAndPort> one = told.iterator(); one.hasNext() && known.size() < ballot.worthAsking(); ) {
                HostAndPort address = one.next();
                if (!known.containsKey(address)) {
                    SentinelConnection recruit = connection(address);
                    known.put(address, recruit);
                    outstanding.add(recruit);
                    recruits.add(recruit);
                }
            }
            return recruits;
        }

        private void failed(SentinelConnection sentinel, Throwable failure) {
            synchronized (SentinelQuorum.this) {
                if (!outstanding.remove(sentinel)) {
                    return;
                }
                failures.add(sentinel.endpoint() + ": " + RedisFailure.reason(failure));
                forget(sentinel);
            }
            failIfAllAnswered();
        }

        private void overdue() {
            List<SentinelConnection> mute;
            synchronized (SentinelQuorum.this) {
                mute = List.copyOf(outstanding);
                outstanding.clear();
                mute.forEach(sentinel -> {
                    failures.add(sentinel.endpoint() + ": no answer in " + limit.toMillis() + " ms");
                    forget(sentinel);
                });
            }
            mute.forEach(SentinelConnection::close); // TCP would notice in a quarter of an hour
            failIfAllAnswered();
        }

        private void failIfAllAnswered() {
            String why;
            synchronized (SentinelQuorum.this) {
                if (!outstanding.isEmpty()) {
                    return;
                }
                timer.cancel();
                why = ballot + (failures.isEmpty() ? "" : "; " + String.join("; ", failures));
            }
            fail(why);
        }

        private void succeed() {
            Confirmation before = confirmation;
            if (before == null || before.epoch != epoch || sentNanos - before.sentNanos > 0) {
                confirmation = new Confirmation(epoch, sentNanos);
            }
            if (done.complete(sentNanos)) {
                tellOfSilence(false, "");
            }
        }

        private void fail(String why) {
            if (done.completeExceptionally(new BackendUnavailableException(
                    "no majority of the sentinels names the master of this connection to " + node.endpoints() + ": "
                            + why))) {
                tellOfSilence(true, why);
            }
        }
    }

    /** One that another told of is asked again once it is told of again: it may have another address by then. */
    @GuardedBy("this")
    private void forget(SentinelConnection sentinel) {
        Iterator<SentinelConnection> all = known.values().iterator();
        for (int i = 0; all.hasNext(); i++) {
            if (all.next() == sentinel && i >= configured) {
                all.remove();
                return;
            }
        }
    }

    private void tellOfSilence(boolean isSilent, String why) {
        synchronized (this) {
            if (silent == isSilent) {
                return;
            }
            silent = isSilent;
        }
        if (isSilent) {
            log.warn(
                    "event=sentinels-silent master={} cause=\"{}\" hint=\"until a majority of them names this master, no lock is"
                            + " granted, and leases end at their deadlines\"",
                    master,
                    why);
        } else {
            log.info("event=sentinels-answer master={}", master);
        }
    }

    private void leave(RedisNode node, int epoch, String another) {
        synchronized (this) {
            long now = context.clock().nanoTime();
            if (node.epoch() != epoch || (moved && now - movedNanos < BETWEEN_MOVES.toNanos())) {
                return;
            }
            moved = true;
            movedNanos = now;
        }
        log.info("event=master-changed master={} now={}", master, another);
        node.reconnect();
    }

    /** Closes its connections. */
    void close() {
        List<SentinelConnection> all;
        synchronized (this) {
            all = List.copyOf(known.values());
        }
        all.forEach(SentinelConnection::close);
    }
}
