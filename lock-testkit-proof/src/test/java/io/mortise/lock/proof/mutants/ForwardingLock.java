// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.LeaseFunction;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LockStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A {@link DistributedLock} that forwards every call to another one and wraps the leases that it returns. */
class ForwardingLock implements DistributedLock {
    final DistributedLock delegate;
    private final UnaryOperator<Lease> wrapper;

    ForwardingLock(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        this.delegate = delegate;
        this.wrapper = wrapper;
    }

    @Override
    public String name() {
        return delegate.name();
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return wrapper.apply(delegate.acquire());
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return delegate.tryAcquire().map(wrapper);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return delegate.tryAcquire(maxWait).map(wrapper);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return forward(delegate.acquireAsync(), wrapper, Lease::releaseAsync);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return forward(
                delegate.tryAcquireAsync(maxWait),
                lease -> lease.map(wrapper),
                lease -> lease.ifPresent(Lease::releaseAsync));
    }

    /** A dependent stage is not enough, since cancelling it does not cancel the request (S08). */
    private static <T> CompletableFuture<T> forward(
            CompletableFuture<T> delegate, Function<T, T> wrapper, Consumer<T> discard) {
        CompletableFuture<T> forwarded = new CompletableFuture<>();
        delegate.whenComplete((value, failure) -> {
            if (failure != null) {
                forwarded.completeExceptionally(
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure);
            } else if (!forwarded.complete(wrapper.apply(value))) {
                discard.accept(value);
            }
        });
        forwarded.whenComplete((value, failure) -> delegate.cancel(true));
        return forwarded;
    }

    @Override
    public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
        delegate.run(lease -> body.run(wrapper.apply(lease)));
    }

    @Override
    public <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException {
        return delegate.tryRun(maxWait, lease -> body.run(wrapper.apply(lease)));
    }

    @Override
    public <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        return delegate.tryCall(maxWait, lease -> body.call(wrapper.apply(lease)));
    }

    @Override
    public <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException {
        return delegate.call(lease -> body.call(wrapper.apply(lease)));
    }

    @Override
    public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
        return delegate.callAsync(lease -> body.apply(wrapper.apply(lease)));
    }

    @Override
    public LeaseLock asLock() {
        return delegate.asLock();
    }

    @Override
    public CompletableFuture<LockStatus> status() {
        return delegate.status();
    }
}
