// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A contender that requests its grant by polling a {@link LeaseStore}. */
final class LeaseStoreContender implements Contender {
    private static final Duration RETRY = Duration.ofMillis(150);
    private static final Duration FIRST_SWEEP = Duration.ofMillis(250);

    private final LeaseStoreBackend backend;
    private final LeaseStore store;
    private final BackendContext context;
    private final LockRequest request;
    private final Grant grant;
    /** When the first attempt without a response was sent; that attempt may still execute. */
    private @Nullable MonotonicInstant unknownSince;

    private volatile boolean swept;
    private @Nullable LeaseStoreGrantValidity validity; // null before the grant

    LeaseStoreContender(LeaseStoreBackend backend, LeaseStore store, BackendContext context, LockRequest request) {
        this.backend = backend;
        this.store = store;
        this.context = context;
        this.request = request;
        this.grant = new Grant(request.name(), request.attemptId());
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        MonotonicInstant sent = context.clock().now();
        return backend.send(
                        "acquire of " + request.name(),
                        () -> store.tryAcquire(request.name(), request.ownerRecord(), request.leaseDuration()))
                .handle((answer, failure) -> {
                    MonotonicInstant earliestSent = unknownSince;
                    if (failure != null) {
                        if (!(StageFailures.unwrap(failure) instanceof BackendRefusedException)) {
                            unknownSince = earliestSent == null ? sent : earliestSent;
                        }
                        throw failure instanceof CompletionException c ? c : new CompletionException(failure);
                    }
                    return answer instanceof LeaseStore.Answer.Token granted
                            ? granted(granted.token(), sent, earliestSent == null ? sent : earliestSent)
                            : busy(earliestSent != null);
                });
    }

    /**
     * Counts the lease from the first attempt without a response, which may be the one that created the grant. If that
     * attempt is so old that the first renewal would be late, the grant is released and requested again.
     */
    private AttemptResult granted(long token, MonotonicInstant sent, MonotonicInstant from) {
        Duration lease = request.leaseDuration();
        if (sent.isAfter(from.plus(LeaseStoreGrantValidity.renewalPeriod(lease)))) {
            return displaced("the reply that granted the lock was lost too long ago");
        }
        LeaseStoreGrantValidity valid =
                new LeaseStoreGrantValidity(context.clock(), grant, lease, LockClock.deadline(from, lease));
        validity = valid;
        return new AttemptResult.Granted(token, valid);
    }

    /** Uses a new attempt id if an attempt had no response: it may still create a grant under this id, at any time. */
    private AttemptResult busy(boolean uncertain) {
        return uncertain ? displaced("an earlier attempt had no response") : new AttemptResult.Waiting(RETRY);
    }

    /**
     * Removes what this contender may have in the store, because the core does not call {@link #end()} afterwards. The
     * repetitions are registered at once, so that a close waits for them.
     */
    private AttemptResult displaced(String why) {
        end();
        sweep(context.clock().now(), Duration.ZERO);
        return new AttemptResult.Displaced(why);
    }

    @Override
    public CompletionStage<Boolean> end() {
        // The first repetition must not overtake the release: that would find nothing, and report a loss.
        return release().whenComplete((was, failure) -> {
            if (unknownSince != null) {
                sweep(context.clock().now(), Duration.ZERO);
            }
        });
    }

    /**
     * Extends the grant once more, by the delay. It cannot wait for the renewals under way, since the grant may end before a
     * silent one does: so it is repeated when they have ended, and until then as after any other request that may still execute.
     */
    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        LeaseStoreGrantValidity held = Objects.requireNonNull(validity, "not granted");
        MonotonicInstant at = context.clock().now().plus(delay);
        boolean renewalMayExecute = held.stopRenewals(() -> keepOrRelease(at));
        return keepUntil(at).whenComplete((kept, failure) -> {
            if (failure != null || unknownSince != null || renewalMayExecute) {
                sweep(at, context.requestTimeout()); // in which a renewal under way ends
            }
        });
    }

    /** Repeats the delayed release, or releases what a late request may have left after its end. */
    private CompletionStage<Boolean> keepOrRelease(MonotonicInstant at) {
        return context.clock().hasPassed(at) ? release() : keepUntil(at);
    }

    private CompletionStage<Boolean> keepUntil(MonotonicInstant at) {
        return backend.sendRenewal("delayed release of lock \"" + request.name() + "\"", Set.of(grant), () -> {
                    Duration left = Durations.roundUpToMillis(
                            Durations.longer(context.clock().until(at), Duration.ofMillis(1)));
                    return backend.delayInForce(left);
                })
                .thenApply(removed -> !removed.contains(grant));
    }

    /**
     * Repeats the release, or until {@code at} the delayed release, for one lease duration and with growing pauses, because
     * an earlier request may execute after the first release and the store cannot reject it. The pauses double, so what such
     * a request changes lasts at most about as long as the request was delayed, and never longer than the lease.
     *
     * @param underWay how long until all earlier requests have had their deadlines
     */
    private void sweep(MonotonicInstant at, Duration underWay) {
        if (swept) {
            return;
        }
        swept = true;
        MonotonicInstant until =
                context.clock().now().plus(request.leaseDuration()).plus(underWay);
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        sweep(at, FIRST_SWEEP, until, ended);
        context.cleanUp(
                "a request for lock \"" + request.name() + "\" without a response, which may still execute",
                () -> ended,
                until);
    }

    private void sweep(MonotonicInstant at, Duration pause, MonotonicInstant until, CompletableFuture<Boolean> ended) {
        context.clock().schedule(pause, () -> {
            keepOrRelease(at).whenComplete((was, failure) -> {
                Duration left = context.clock().until(until);
                if (!Durations.isPositive(left)) {
                    ended.complete(true); // a request that executes later lasts for its lease
                } else {
                    sweep(at, Durations.shorter(left, pause.multipliedBy(2)), until, ended);
                }
            });
        });
    }

    private CompletionStage<Boolean> release() {
        return backend.send("release of lock \"" + request.name() + "\"", () -> store.release(grant));
    }
}
