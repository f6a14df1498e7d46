// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Confirms that a majority of the sentinels names the connected server as the master. The lease of a grant or a renewal is
 * counted from such a confirmation, or from an earlier time. So a client that is cut off together with an old master considers
 * its lease ended within one lease duration (ADR 0030). Sentinels are queried when the client connects, for acquires and
 * renewals, and for a diagnosis, but not periodically. Thread-safe.
 */
public final class SentinelMasterConfirmation {
    private static final Logger log = LoggerFactory.getLogger(SentinelMasterConfirmation.class);

    /** A confirmation is valid for the lease duration divided by this. */
    private static final int CONFIRMATIONS_PER_LEASE = 6;

    private static final Duration BETWEEN_FAILURES = Duration.ofMillis(100);

    private final SentinelGroup sentinels;
    private final BackendContext context;

    @GuardedBy("this")
    private @Nullable Query latest;

    @GuardedBy("this")
    private boolean unconfirmed;

    private volatile @Nullable Confirmation confirmation;

    /** A confirmation for the connection of this epoch, and when its query was sent. */
    private record Confirmation(int epoch, MonotonicInstant sent) {}

    /** Creates a confirmation that has not queried the sentinels yet. */
    public SentinelMasterConfirmation(SentinelGroup sentinels, BackendContext context) {
        this.sentinels = sentinels;
        this.context = context;
    }

    private record Query(int epoch, MonotonicInstant sent, CompletableFuture<MonotonicInstant> done) {}

    /**
     * Completes when a majority of the sentinels names the server of this node's present connection, with the latest instant
     * from which a grant counts. Fails with {@link BackendUnavailableException} if no majority does within half a request
     * timeout, or if the present connection is another than that of the grant.
     *
     * @param epoch the epoch of the connection with the grant
     * @param lease the lease duration, which limits the age of an earlier confirmation
     */
    public CompletableFuture<MonotonicInstant> confirm(RedisNodeClient node, int epoch, Duration lease) {
        MonotonicInstant oldest = context.clock().now().minus(Durations.divide(lease, CONFIRMATIONS_PER_LEASE));
        Confirmation last = confirmation;
        if (last != null && last.epoch == epoch && !last.sent.isBefore(oldest)) {
            return CompletableFuture.completedFuture(last.sent);
        }
        Optional<SocketAddress> server = node.remoteAddress();
        if (server.isEmpty() || node.epoch() != epoch) { // in this order: the server is that of this epoch then
            return CompletableFuture.failedFuture(
                    new BackendUnavailableException("no connection to the master that " + node.endpoints() + " names"));
        }
        Query query;
        synchronized (this) {
            Query underWay = latest;
            if (underWay != null && underWay.epoch == epoch && isRecent(underWay, oldest)) {
                return underWay.done;
            }
            query = new Query(epoch, context.clock().now(), new CompletableFuture<>());
            latest = query;
        }
        sentinels.query(server.get()).thenAccept(verdict -> end(query, verdict, node));
        return query.done;
    }

    /** Returns whether to use this query's result. A query that has just failed is not repeated at once for each retry. */
    private boolean isRecent(Query query, MonotonicInstant oldest) {
        return !query.sent.isBefore(oldest)
                && (!query.done.isDone() || context.clock().since(query.sent).compareTo(BETWEEN_FAILURES) < 0);
    }

    private void end(Query query, SentinelVerdict verdict, RedisNodeClient node) {
        if (verdict.confirmed()) {
            Confirmation before = confirmation;
            if (before == null || before.epoch != query.epoch || query.sent.isAfter(before.sent)) {
                confirmation = new Confirmation(query.epoch, query.sent);
            }
            query.done.complete(query.sent);
            logChange(false, "");
            return;
        }
        BackendUnavailableException failure = failure(node, verdict);
        query.done.completeExceptionally(failure);
        logChange(true, String.valueOf(failure.getMessage()));
        if (verdict.majority()) {
            verdict.named().ifPresent(another -> reconnect(node, query.epoch, another.master()));
        }
    }

    private static BackendUnavailableException failure(RedisNodeClient node, SentinelVerdict verdict) {
        String why = verdict.majority()
                ? verdict.named()
                        .map(another -> "a majority names " + another.master())
                        .orElseThrow()
                : verdict.text();
        return new BackendUnavailableException(
                "no majority of the sentinels names the master of this connection to " + node.endpoints() + ": " + why);
    }

    /** Queries the sentinels and returns what endangers locks. */
    public CompletionStage<List<Finding>> diagnose(RedisNodeClient node) {
        return sentinels.query(node.remoteAddress().orElse(null)).thenApply(verdict -> {
            if (!verdict.confirmed()) {
                return List.of(new Finding(
                        Severity.ERROR,
                        String.valueOf(failure(node, verdict).getMessage()),
                        "check the sentinels and the network to them: no lock is granted, and leases end"));
            }
            return verdict.sentinels() < 3
                    ? List.of(new Finding(
                            Severity.WARNING,
                            "the number of sentinels is " + verdict.sentinels(),
                            "run three or more: with fewer, one failure stops all locks"))
                    : List.<Finding>of();
        });
    }

    /** Returns when the query was sent that led to the last confirmation for the connection of this epoch. */
    public Optional<MonotonicInstant> lastConfirmed(int epoch) {
        Confirmation last = confirmation;
        return last == null || last.epoch != epoch ? Optional.empty() : Optional.of(last.sent);
    }

    private void logChange(boolean isUnconfirmed, String why) {
        synchronized (this) {
            if (unconfirmed == isUnconfirmed) {
                return;
            }
            unconfirmed = isUnconfirmed;
        }
        if (isUnconfirmed) {
            log.warn(
                    "event=sentinels-silent master={} cause=\"{}\" hint=\"until a majority of them names this master, no lock is"
                            + " granted, and leases end at their deadlines\"",
                    sentinels.master(),
                    why);
        } else {
            log.info("event=sentinels-answer master={}", sentinels.master());
        }
    }

    private void reconnect(RedisNodeClient node, int epoch, String another) {
        if (node.epoch() == epoch) {
            log.info("event=master-changed master={} now={}", sentinels.master(), another);
            node.reconnect(); // leads to the master that a majority names by then
        }
    }
}
