// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.mortise.lock.redis.client.MasterLookupRedisUri;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.sentinel.SentinelReply.HostAndPort;
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
 * Queries all sentinels of one master in parallel, whether configured in the URL or discovered later. A sentinel that does not
 * respond does not delay a majority. Thread-safe.
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

    /** @param uri the URI that names the sentinels and the master */
    public SentinelGroup(RedisClient client, RedisURI uri, BackendContext context) {
        this.client = client;
        this.context = context;
        this.master = uri.getSentinelMasterId();
        this.first = uri.getSentinels().get(0);
        this.limit = context.requestTimeout().dividedBy(2); // the rest is for the release of a grant
        uri.getSentinels()
                .forEach(sentinel -> known.put(
                        new HostAndPort(sentinel.getHost(), sentinel.getPort()),
                        connection(new MasterLookupRedisUri(sentinel))));
        this.configured = known.size();
    }

    String master() {
        return master;
    }

    private SentinelConnection connection(RedisURI uri) {
        uri.setClientName("mortise-" + context.clientId());
        return new SentinelConnection(client, uri, context.blocking());
    }

    /** Returns a connection to a sentinel that another one reported, with the credentials and TLS of the first in the URL. */
    private SentinelConnection connection(HostAndPort address) {
        RedisURI uri = new MasterLookupRedisUri(first);
        uri.setHost(address.host());
        uri.setPort(address.port());
        return connection(uri);
    }

    /**
     * Returns the address of the master that a majority names. If no majority agrees within half a request timeout, returns the
     * address that most sentinels name: no lock is granted there, but the client's locks there can be seen and released.
     */
    public CompletableFuture<SocketAddress> masterAddress() {
        return query(null).thenApply(verdict -> {
            if (verdict.named().isPresent()) {
                return verdict.named().get().address();
            }
            RedisException unknown = new RedisException("no sentinel names " + master + ": " + verdict.text());
            verdict.failures().forEach(unknown::addSuppressed);
            throw unknown;
        });
    }

    /**
     * Queries all sentinels. Completes as soon as a majority names one master, or when all have replied or half a request
     * timeout has passed.
     *
     * @param server the server that should be the master; null if any server may be
     */
    CompletableFuture<SentinelVerdict> query(@Nullable SocketAddress server) {
        List<SentinelConnection> sentinels;
        synchronized (this) {
            sentinels = List.copyOf(known.values());
        }
        Query query = new Query(server, sentinels);
        query.send(sentinels);
        return query.done;
    }

    /** One query to all sentinels, from its first request until the verdict. */
    private final class Query {
        private final SentinelVoteTally votes;
        private final CompletableFuture<SentinelVerdict> done = new CompletableFuture<>();
        private final LockClock.Timer timer = context.clock().schedule(limit, this::overdue);

        @GuardedBy("SentinelGroup.this")
        private final Set<SentinelConnection> outstanding;

        @GuardedBy("SentinelGroup.this")
        private final Set<HostAndPort> reported = new LinkedHashSet<>();

        @GuardedBy("SentinelGroup.this")
        private final List<String> reasons = new ArrayList<>();

        @GuardedBy("SentinelGroup.this")
        private final List<Throwable> failures = new ArrayList<>();

        Query(@Nullable SocketAddress server, List<SentinelConnection> sentinels) {
            this.outstanding = new LinkedHashSet<>(sentinels);
            this.votes = new SentinelVoteTally(server, configured);
        }

        void send(List<SentinelConnection> sentinels) {
            sentinels.forEach(sentinel -> sentinel.query(master).whenComplete((answer, failure) -> {
                if (failure == null) {
                    onAnswer(sentinel, answer);
                } else {
                    onFailure(sentinel, failure);
                }
            }));
        }

        private void onAnswer(SentinelConnection sentinel, SentinelReply answer) {
            List<SentinelConnection> more;
            boolean alias;
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                outstanding.remove(sentinel);
                alias = !votes.add(answer);
                reported.addAll(answer.others());
                more = addReported();
                verdict = votes.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            if (alias) {
                log.debug("event=sentinel-alias endpoint={}", sentinel.endpoint());
            }
            send(more);
            end(verdict, last);
        }

        /** Adds sentinels that others reported to this query, until all that should exist are known. */
        @GuardedBy("SentinelGroup.this")
        private List<SentinelConnection> addReported() {
            List<SentinelConnection> added = new ArrayList<>();
            for (Iterator<HostAndPort> next = reported.iterator();
                    next.hasNext() && known.size() < votes.addressesWorthQuerying(); ) {
                HostAndPort address = next.next();
                if (!known.containsKey(address)) {
                    SentinelConnection sentinel = connection(address);
                    known.put(address, sentinel);
                    outstanding.add(sentinel);
                    added.add(sentinel);
                }
            }
            return added;
        }

        private void onFailure(SentinelConnection sentinel, Throwable failure) {
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                if (!outstanding.remove(sentinel)) {
                    return;
                }
                reasons.add(sentinel.endpoint() + ": " + RedisErrors.reason(failure));
                failures.add(failure);
                forget(sentinel);
                verdict = votes.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            end(verdict, last);
        }

        private void overdue() {
            List<SentinelConnection> silent;
            SentinelVerdict verdict;
            boolean last;
            synchronized (SentinelGroup.this) {
                silent = List.copyOf(outstanding);
                outstanding.clear();
                silent.forEach(sentinel -> {
                    reasons.add(sentinel.endpoint() + ": no answer in " + limit.toMillis() + " ms");
                    forget(sentinel);
                });
                verdict = votes.verdict(reasons, failures);
                last = outstanding.isEmpty();
            }
            silent.forEach(SentinelConnection::close); // TCP would notice only after a quarter of an hour
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

    /** Forgets a sentinel that is not in the URL until another reports it again, since it may have another address by then. */
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

    /** Announces that the Lettuce client is about to be shut down, which closes the connections to all sentinels. */
    public void announceClose() {
        List<SentinelConnection> all;
        synchronized (this) {
            all = List.copyOf(known.values());
        }
        all.forEach(SentinelConnection::announceClose);
    }
}
