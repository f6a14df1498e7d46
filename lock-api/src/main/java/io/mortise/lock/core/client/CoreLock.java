// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.LeaseFunction;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.core.acquire.AcquireFutureDelivery;
import io.mortise.lock.core.acquire.AcquireOperation;
import io.mortise.lock.core.acquire.AcquireOutcome;
import io.mortise.lock.core.acquire.AcquireServices;
import io.mortise.lock.core.acquire.OpenAcquires;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.runtime.InterruptibleWait;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.internal.ElectionReporter;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The default {@link DistributedLock}; each of its acquire methods starts one {@link AcquireOperation}. */
public final class CoreLock implements DistributedLock, ElectionReporter {
    private final AcquireServices with;
    private final Supplier<Optional<LockAdmin>> admin;
    private final LockName name;
    private final LockOptions options;

    CoreLock(AcquireServices with, Supplier<Optional<LockAdmin>> admin, LockName name, LockOptions options) {
        this.with = with;
        this.admin = admin;
        this.name = name;
        this.options = options;
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return await(null).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return await(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return await(checked(maxWait));
    }

    private Optional<Lease> await(@Nullable Duration maxWait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before lock \"" + name + "\" was requested");
        }
        CompletableFuture<AcquireOutcome> outcome = new CompletableFuture<>();
        AcquireOperation acquisition = AcquireOperation.start(with, name, options, maxWait, outcome::complete);
        return leaseOf(InterruptibleWait.await(outcome, name, acquisition::withdraw));
    }

    /**
     * Acquires the lock, and keeps its place in the queue when the thread is interrupted; the interrupt flag is kept.
     *
     * @param maxWait null for no limit
     * @return empty if another owner held the lock until the limit
     */
    Optional<Lease> awaitUninterruptibly(@Nullable Duration maxWait) {
        CompletableFuture<AcquireOutcome> outcome = new CompletableFuture<>();
        AcquireOperation.start(with, name, options, maxWait, outcome::complete);
        return leaseOf(outcome.join());
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return async(null, lease -> lease.orElseThrow());
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return async(checked(maxWait), Function.identity());
    }

    private <T> CompletableFuture<T> async(@Nullable Duration maxWait, Function<Optional<Lease>, T> result) {
        return new AcquireFutureDelivery<T>(with, name, options, maxWait).begin((outcome, future) -> {
            Optional<Lease> lease = leaseOf(outcome);
            if (!future.complete(result.apply(lease))) {
                lease.ifPresent(Lease::releaseAsync); // the caller ended the future while the grant arrived
            }
        });
    }

    @Override
    public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        this.<Optional<Void>, X>call(lease -> {
            body.run(lease);
            return Optional.empty();
        });
    }

    @Override
    public <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        return this.<Boolean, X>tryCall(maxWait, lease -> {
                    body.run(lease);
                    return true;
                })
                .isPresent();
    }

    @Override
    public <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        return callWith(acquire(), body);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Objects.requireNonNull(body, "body");
        Optional<Lease> lease = tryAcquire(maxWait);
        return lease.isEmpty()
                ? Optional.empty()
                : Optional.of(callWith(
                        lease.get(), held -> Objects.requireNonNull(body.call(held), "the body returned null")));
    }

    private static <T, X extends Exception> T callWith(Lease lease, LeaseFunction<T, X> body) throws X {
        T result;
        try {
            result = body.call(lease);
        } catch (Throwable e) {
            if (lease.release() == ReleaseOutcome.LOST) {
                e.addSuppressed(lost(lease));
            }
            throw e;
        }
        if (lease.release() == ReleaseOutcome.LOST) {
            throw lost(lease);
        }
        return result;
    }

    static LeaseLostException lost(Lease lease) {
        return new LeaseLostException(lease.lockName(), ((HeldLease) lease).lossReason());
    }

    @Override
    public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
        Objects.requireNonNull(body, "body");
        return new AcquireFutureDelivery<T>(with, name, options, null)
                .begin((outcome, future) -> runAsync(leaseOf(outcome).orElseThrow(), body, future));
    }

    private static <T> void runAsync(
            Lease lease, Function<? super Lease, ? extends CompletionStage<T>> body, CompletableFuture<T> future) {
        CompletableFuture<T> followed = new CompletableFuture<>();
        try {
            // An application's own stage class may throw when a dependent is added.
            Objects.requireNonNull(body.apply(lease), "the body returned no stage")
                    .whenComplete((value, thrown) -> {
                        if (thrown != null) {
                            followed.completeExceptionally(thrown);
                        } else {
                            followed.complete(value);
                        }
                    });
        } catch (Throwable e) {
            followed.completeExceptionally(e);
        }
        followed.whenComplete((value, thrown) -> releaseAfterBody(lease).thenAccept(outcome -> {
            // get() drops the wrapper of a dependent stage's failure, with what the wrapper has suppressed.
            Throwable failure =
                    thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
            if (failure != null) {
                if (outcome == ReleaseOutcome.LOST) {
                    failure.addSuppressed(lost(lease));
                }
                future.completeExceptionally(failure);
            } else if (outcome == ReleaseOutcome.LOST) {
                future.completeExceptionally(lost(lease));
            } else {
                future.complete(value);
            }
        }));
    }

    /** The caller of the body waits for the outcome, whatever is thrown. */
    private static CompletableFuture<ReleaseOutcome> releaseAfterBody(Lease lease) {
        try {
            return lease.releaseAsync();
        } catch (Throwable e) { // for example no memory for the request
            return CompletableFuture.completedFuture(ReleaseOutcome.UNKNOWN);
        }
    }

    @Override
    public LeaseLock asLock() {
        return new CoreLeaseLock(this, new ThreadLocal<>());
    }

    @Override
    public Campaign electionStarted(BooleanSupplier leading) {
        return with.listeners().electionStarted(name, leading);
    }

    @Override
    public CompletableFuture<LockStatus> status() {
        return admin.get()
                .orElseThrow(() -> new UnsupportedOperationException("this backend cannot show who holds a lock"))
                .status(name.value());
    }

    /**
     * Returns the lease of the outcome, or throws its failure. If the client has closed meanwhile, the lease has ended (S16).
     */
    private Optional<Lease> leaseOf(AcquireOutcome outcome) {
        if (outcome instanceof AcquireOutcome.Leased leased) {
            if (with.open().isClosing()) {
                throw OpenAcquires.closed();
            }
            return Optional.of(leased.lease());
        }
        if (outcome instanceof AcquireOutcome.Failed failed) {
            throw failed.cause();
        }
        return Optional.empty();
    }

    private static Duration checked(Duration maxWait) {
        if (Objects.requireNonNull(maxWait, "maxWait").isNegative()) {
            throw new IllegalArgumentException("maxWait is " + maxWait + ", must be zero or more");
        }
        return Durations.shorter(maxWait, DurationLimits.LONGEST);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + "]";
    }
}
