// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
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
 * Confirms that a majority of the sentinels names the server of the client's connection. A grant or a renewal counts no later
 * than from such an answer: whoever is cut off together with an old master stops believing within one lease (ADR 0030). Asks
 * only when somebody acquires or renews. Thread-safe.
 */
public final class SentinelMasterConfirmation {
    private static final Logger log = LoggerFactory.getLogger(SentinelMasterConfirmation.class);

    /** The part of a lease for which an answer is valid. */
    private static final int FRESH_PART = 6;

    private static final Duration BETWEEN_FAILURES = Duration.ofMillis(100);

    private final SentinelGroup sentinels;
    private final BackendContext context;

    @GuardedBy("this")
    private @Nullable Question latest;

    @GuardedBy("this")
    private boolean silent;

    private volatile @Nullable Confirmation confirmation;

    /** A majority named the server of that connection; when it was asked. */
    private record Confirmation(int epoch, MonotonicTime sent) {}

    public SentinelMasterConfirmation(SentinelGroup sentinels, BackendContext context) {
        this.sentinels = sentinels;
        this.context = context;
    }

    private record Question(int epoch, MonotonicTime sent, CompletableFuture<MonotonicTime> done) {}

    /**
     * Completes with the instant from which a grant counts at the latest, when a majority of the sentinels names the server of
     * this node's present connection. Fails with {@link BackendUnavailableException} if none does within half a request timeout.
     *
     * @param lease whose length says how old an answer may be
     */
    public CompletableFuture<MonotonicTime> named(RedisNodeClient node, Duration lease) {
        int epoch = node.epoch();
        MonotonicTime oldest = context.clock().now().minus(Durations.divide(lease, FRESH_PART));
        Confirmation latestYes = confirmation;
        if (latestYes != null && latestYes.epoch == epoch && !latestYes.sent.isBefore(oldest)) {
            return CompletableFuture.completedFuture(latestYes.sent);
        }
        Optional<SocketAddress> server = node.remote();
        if (server.isEmpty()) {
            return CompletableFuture.failedFuture(
                    new BackendUnavailableException("no connection to the master that " + node.endpoints() + " names"));
        }
        Question question;
        synchronized (this) {
            Question underWay = latest;
            if (underWay != null && underWay.epoch == epoch && isRecent(underWay, oldest)) {
                return underWay.done;
            }
            question = new Question(epoch, context.clock().now(), new CompletableFuture<>());
            latest = question;
        }
        sentinels.ask(server.get()).thenAccept(verdict -> end(question, verdict, node));
        return question.done;
    }

    /** One that has just failed is not asked again at once for each of those who retry. */
    private boolean isRecent(Question question, MonotonicTime oldest) {
        return !question.sent.isBefore(oldest)
                && (!question.done.isDone()
                        || context.clock().since(question.sent).compareTo(BETWEEN_FAILURES) < 0);
    }

    private void end(Question question, SentinelVerdict verdict, RedisNodeClient node) {
        if (verdict.confirmed()) {
            Confirmation before = confirmation;
            if (before == null || before.epoch != question.epoch || question.sent.isAfter(before.sent)) {
                confirmation = new Confirmation(question.epoch, question.sent);
            }
            question.done.complete(question.sent);
            tellOfSilence(false, "");
            return;
        }
        BackendUnavailableException unconfirmed = unconfirmed(node, verdict);
        question.done.completeExceptionally(unconfirmed);
        tellOfSilence(true, String.valueOf(unconfirmed.getMessage()));
        if (verdict.majority()) {
            verdict.named().ifPresent(another -> leave(node, question.epoch, another.master()));
        }
    }

    private static BackendUnavailableException unconfirmed(RedisNodeClient node, SentinelVerdict verdict) {
        String why = verdict.majority()
                ? verdict.named()
                        .map(another -> "a majority names " + another.master())
                        .orElseThrow()
                : verdict.text();
        return new BackendUnavailableException(
                "no majority of the sentinels names the master of this connection to " + node.endpoints() + ": " + why);
    }

    /** What endangers locks: asks anew. */
    public CompletionStage<List<Finding>> diagnose(RedisNodeClient node) {
        return sentinels.ask(node.remote().orElse(null)).thenApply(verdict -> {
            if (!verdict.confirmed()) {
                return List.of(new Finding(
                        Severity.ERROR,
                        String.valueOf(unconfirmed(node, verdict).getMessage()),
                        "see to the sentinels and the way to them: no lock is granted, and leases end"));
            }
            return verdict.sentinels() < 3
                    ? List.of(new Finding(
                            Severity.WARNING,
                            "of sentinels there are " + verdict.sentinels(),
                            "run three or more: with fewer, one failure stops all locks"))
                    : List.<Finding>of();
        });
    }

    /** Returns when that was last asked of which a majority said that it names the server of that connection. */
    public Optional<MonotonicTime> lastNamed(int epoch) {
        Confirmation last = confirmation;
        return last == null || last.epoch != epoch ? Optional.empty() : Optional.of(last.sent);
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
                    sentinels.master(),
                    why);
        } else {
            log.info("event=sentinels-answer master={}", sentinels.master());
        }
    }

    private void leave(RedisNodeClient node, int epoch, String another) {
        if (node.epoch() == epoch) {
            log.info("event=master-changed master={} now={}", sentinels.master(), another);
            node.reconnect(); // to the master that a majority names then
        }
    }

    /** Closes its connections. */
    public void close() {
        sentinels.close();
    }
}
