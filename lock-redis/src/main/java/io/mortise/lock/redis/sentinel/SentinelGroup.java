// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.mortise.lock.redis.client.AddressLookupRedisUri;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.sentinel.SentinelAnswer.HostAndPort;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sentinels of one master, those that the URL names and those that they tell of. All are asked in parallel, so one that is
 * silent delays no majority. Thread-safe.
 */
public final class SentinelGroup {
    private static final Logger log = LoggerFactory.getLogger(SentinelGroup.class);

    private final RedisClient client;
    private final BackendContext context;
    private final String master;
    private final RedisURI first;
    private final int configured;
    private final Duration limit;

    @GuardedBy("this")
    private final Map<HostAndPort, SentinelConnection> known = new LinkedHashMap<>();

    /** @param uri names the sentinels and the master */
    public SentinelGroup(RedisClient client, RedisURI uri, BackendContext context) {
        this.client = client;
        this.context = context;
        this.master = uri.getSentinelMasterId();
        this.first = uri.getSentinels().get(0);
        this.limit = context.requestTimeout().dividedBy(2); // the rest is for giving a grant back
        uri.getSentinels()
                .forEach(sentinel -> known.put(
                        new HostAndPort(sentinel.getHost(), sentinel.getPort()),
                        connection(new AddressLookupRedisUri(sentinel))));
        this.configured = known.size();
    }

    String master() {
        return master;
    }

    private SentinelConnection connection(RedisURI uri) {
        uri.setClientName("mortise-" + context.clientId());
        return new SentinelConnection(client, uri, context.blocking());
    }

    /** A sentinel that another told of has the credentials and TLS of the first. */
    private SentinelConnection connection(HostAndPort told) {
        RedisURI uri = new AddressLookupRedisUri(first);
        uri.setHost(told.host());
        uri.setPort(told.port());
        return connection(uri);
    }

    /**
     * Returns the address of the master that a majority names. If none does within half a request timeout, the one that most name:
     * no lock is granted there, but what the client has there can be seen and released.
     */
    public CompletableFuture<SocketAddress> masterAddress() {
        return ask(null).thenApply(verdict -> {
            if (verdict.named().isPresent()) {
                return verdict.named().get().address();
            }
            RedisException nobody = new RedisException("no sentinel names " + master + ": " + verdict.text());
            verdict.failures().forEach(nobody::addSuppressed);
            throw nobody;
        });
    }

    /**
     * Asks all of them. Completes as soon as a majority names one master, or when all have answered or half a request timeout has passed.
     *
     * @param server about which they are asked, null for any
     */
    CompletableFuture<SentinelVerdict> ask(@Nullable SocketAddress server) {
        List<SentinelConnection> asked;
        synchronized (this) {
            asked = List.copyOf(known.values());
        }
        Question question = new Question(server, asked);
        question.ask(asked);
        return question.done;
    }

    private final class Question {
        private final SentinelVotes ballot;
        private final CompletableFuture<SentinelVerdict> done = new CompletableFuture<>();
        private final LockClock.Timer timer = context.clock().schedule(limit, this::overdue);

        @GuardedBy("SentinelGroup.this")
        private final Set<SentinelConnection> outstanding;

        @GuardedBy("SentinelGroup.this")
        private final Set<HostAndPort> told = new LinkedHashSet<>();

        @GuardedBy("SentinelGroup.this")
        private final List<String> reasons = new ArrayList<>();

        @GuardedBy("SentinelGroup.this")
        private final List<Throwable> failures = new ArrayList<>();

        Question(@Nullable SocketAddress server, List<SentinelConnection> asked) {
            this.outstanding = new LinkedHashSet<>(asked);
            this.ballot = new SentinelVotes(server, configured);
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
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                outstanding.remove(sentinel);
                alias = !ballot.add(answer);
                told.addAll(answer.others());
                more = recruit();
                verdict = ballot.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            if (alias) {
                log.debug("event=sentinel-alias endpoint={}", sentinel.endpoint());
            }
            ask(more);
            end(verdict, last);
        }

        /** Sentinels that others know are asked too, until as many are as there should be. */
        @GuardedBy("SentinelGroup.this")
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
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                if (!outstanding.remove(sentinel)) {
                    return;
                }
                reasons.add(sentinel.endpoint() + ": " + RedisErrors.reason(failure));
                failures.add(failure);
                forget(sentinel);
                verdict = ballot.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            end(verdict, last);
        }

        private void overdue() {
            List<SentinelConnection> mute;
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                mute = List.copyOf(outstanding);
                outstanding.clear();
                mute.forEach(sentinel -> {
                    reasons.add(sentinel.endpoint() + ": no answer in " + limit.toMillis() + " ms");
                    forget(sentinel);
                });
                verdict = ballot.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            mute.forEach(SentinelConnection::close); // TCP would notice in a quarter of an hour
            end(verdict, last);
        }

        private void end(SentinelVerdict verdict, boolean last) {
            if (last) {
                timer.cancel();
            }
            if (last || verdict.majority()) {
                done.complete(verdict);
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

    /** Closes its connections. */
    void close() {
        List<SentinelConnection> all;
        synchronized (this) {
            all = List.copyOf(known.values());
        }
        all.forEach(SentinelConnection::close);
    }
}
