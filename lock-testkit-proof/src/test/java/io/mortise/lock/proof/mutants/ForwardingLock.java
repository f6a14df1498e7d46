// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.LeaseFunction;
import io.mortise.lock.LockStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Passes everything on, leases dressed. */
class ForwardingLock implements DistributedLock {
    final DistributedLock honest;
    private final UnaryOperator<Lease> dress;

    ForwardingLock(DistributedLock honest, UnaryOperator<Lease> dress) {
        this.honest = honest;
        this.dress = dress;
    }

    @Override
    public String name() {
        return honest.name();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return dress.apply(honest.acquire());
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return honest.tryAcquire().map(dress);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return honest.tryAcquire(maxWait).map(dress);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return passOn(honest.acquireAsync(), dress, Lease::releaseAsync);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return passOn(
                honest.tryAcquireAsync(maxWait),
                lease -> lease.map(dress),
                lease -> lease.ifPresent(Lease::releaseAsync));
    }

    /** A stage alone would not do: cancelling it reaches nothing (S08). */
    private static <T> CompletableFuture<T> passOn(
            CompletableFuture<T> honest, Function<T, T> dress, Consumer<T> unwanted) {
        CompletableFuture<T> seen = new CompletableFuture<>();
        honest.whenComplete((value, failure) -> {
            if (failure != null) {
                seen.completeExceptionally(
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure);
            } else if (!seen.complete(dress.apply(value))) {
                unwanted.accept(value);
            }
        });
        seen.whenComplete((value, failure) -> honest.cancel(true));
        return seen;
    }

    @Override
    public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
        honest.run(lease -> body.run(dress.apply(lease)));
    }

    @Override
    public <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException {
        return honest.tryRun(maxWait, lease -> body.run(dress.apply(lease)));
    }

    @Override
    public <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        return honest.tryCall(maxWait, lease -> body.call(dress.apply(lease)));
    }

    @Override
    public <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException {
        return honest.call(lease -> body.call(dress.apply(lease)));
    }

    @Override
    public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
        return honest.callAsync(lease -> body.apply(dress.apply(lease)));
    }

    @Override
    public CompletableFuture<LockStatus> status() {
        return honest.status();
    }
}
