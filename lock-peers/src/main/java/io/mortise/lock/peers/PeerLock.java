// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.LeaseFunction;
import io.mortise.lock.LeaseLock;
import io.mortise.lock.LockStatus;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Presents a lock of another library as a {@link DistributedLock}, so that the conformance kit can test it. An asynchronous
 * call blocks a thread of its own.
 */
final class PeerLock implements DistributedLock {
    private static final AtomicLong asyncCount = new AtomicLong();

    private final PeerLockClient client;
    private final String name;

    PeerLock(PeerLockClient client, String name) {
        this.client = client;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return client.acquire(name, Optional.empty())
                .orElseThrow(() -> new IllegalStateException("a wait without a limit ended without a lock"));
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
        return client.acquire(name, Optional.of(maxWait)).map(lease -> lease);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return async(this::acquire, Lease::close);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait) {
        return async(() -> tryAcquire(maxWait), lease -> lease.ifPresent(Lease::close));
    }

    private static <T> CompletableFuture<T> async(Callable<T> call, Consumer<T> undo) {
        CompletableFuture<T> future = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        T result = call.call();
                        if (!future.complete(result)) {
                            undo.accept(result);
                        }
                    } catch (Throwable e) {
                        future.completeExceptionally(e);
                    }
                },
                PeerLockClient.ASYNC_THREAD_NAME + asyncCount.incrementAndGet());
        thread.setDaemon(true);
        // Completed by another thread: the caller gave up, as an application does that interrupts a waiting thread.
        future.whenComplete((result, failure) -> {
            if (Thread.currentThread() != thread) {
                thread.interrupt();
            }
        });
        thread.start();
        return future;
    }

    @Override
    public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
        try (Lease lease = acquire()) {
            body.run(lease);
        }
    }

    @Override
    public <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException {
        Optional<Lease> lease = tryAcquire(maxWait);
        if (lease.isPresent()) {
            try (Lease held = lease.get()) {
                body.run(held);
            }
        }
        return lease.isPresent();
    }

    @Override
    public <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException {
        try (Lease lease = acquire()) {
            return body.call(lease);
        }
    }

    @Override
    public <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException {
        Optional<Lease> lease = tryAcquire(maxWait);
        if (lease.isEmpty()) {
            return Optional.empty();
        }
        try (Lease held = lease.get()) {
            return Optional.of(Objects.requireNonNull(body.call(held)));
        }
    }

    @Override
    public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
        throw client.test().abort("an asynchronous call under the lock");
    }

    @Override
    public LeaseLock asLock() {
        throw UnclaimedGuaranteeAbort.abort("asLock");
    }

    @Override
    public CompletableFuture<LockStatus> status() {
        throw new UnsupportedOperationException("no peer shows who holds a lock");
    }
}
