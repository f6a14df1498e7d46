// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A call of a {@link Locked} method that returns a {@code Mono} or {@code Flux}: each subscription acquires the lock, runs the method
 * and holds the lease until the publisher completes, fails or is cancelled. Loaded only if Reactor is present.
 */
final class ReactiveLocked {
    /** A lock that a subscription holds. */
    private record Held(LockClient client, Lease lease) {}

    private final LockClient client;
    private final DistributedLock lock;
    private final LockedMethod locked;
    private final ProxyMethodInvocation invocation;

    ReactiveLocked(LockClient client, DistributedLock lock, LockedMethod locked, ProxyMethodInvocation invocation) {
        this.client = client;
        this.lock = lock;
        this.locked = locked;
        this.invocation = invocation;
    }

    /** Returns the lease of the innermost locked publisher. */
    static Optional<Lease> current(ContextView context) {
        return held(context).findFirst().map(Held::lease);
    }

    private static Stream<Held> held(ContextView context) {
        List<Held> held = context.getOrDefault(ReactiveLocked.class, null);
        return held == null ? Stream.empty() : held.stream();
    }

    private Context inside(Context context, Lease lease) {
        return context.put(
                ReactiveLocked.class,
                Stream.concat(Stream.of(new Held(client, lease)), held(context)).toList());
    }

    /** Returns what the caller gets: a {@code Mono} or {@code Flux}, as the method does. */
    Object publisher() {
        return locked.returns() == ReturnKind.MONO
                ? Mono.deferContextual(context -> new Hold(context).mono())
                : Flux.deferContextual(context -> new Hold(context).flux());
    }

    private void refuseNested(ContextView context) {
        boolean own = held(context)
                .anyMatch(held -> held.client() == client
                        && held.lease().lockName().equals(lock.name())
                        && held.lease().isHeld());
        if (own) {
            throw new IllegalStateException(
                    "lock \"" + LockName.shown(lock.name()) + "\" is held by the publisher around this one: "
                            + "locks are not reentrant, pass the lease along (S4)");
        }
    }

    /** Runs the method, on a copy of the invocation, because each subscription runs it. */
    @SuppressWarnings("unchecked") // to the caller it is what the method declares
    private Publisher<Object> body() {
        try {
            return (Publisher<Object>) Objects.requireNonNull(
                    invocation.invocableClone().proceed(), () -> locked.description() + ": the method returned null");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw reactor.core.Exceptions.propagate(e);
        }
    }

    /** The lock of one subscription. */
    private final class Hold {
        private volatile @Nullable CompletableFuture<Optional<Lease>> acquired;
        private volatile boolean cancelled;
        private volatile @Nullable ReactiveTransactionLease inTransaction;
        /** Whether the acquired lease was left to a transaction, or abandoned; the first one decides. */
        private final AtomicBoolean takenOver = new AtomicBoolean();
        /** Whether this publisher has ended its use of the transaction's lease. */
        private final AtomicBoolean ended = new AtomicBoolean();

        private volatile @Nullable LeaseLostException lost;

        Hold(ContextView context) {
            refuseNested(context);
        }

        Mono<Object> mono() {
            return Mono.<Object, Lease>usingWhen(
                            lease(),
                            lease -> Mono.from(body()).contextWrite(outer -> inside(outer, lease)),
                            this::complete,
                            this::fail,
                            this::end)
                    .onErrorMap(this::unwrapped)
                    .doFinally(this::ended);
        }

        Flux<Object> flux() {
            return Flux.<Object, Lease>usingWhen(
                            lease(),
                            lease -> Flux.from(body()).contextWrite(outer -> inside(outer, lease)),
                            this::complete,
                            this::fail,
                            this::end)
                    .onErrorMap(this::unwrapped)
                    .doFinally(this::ended);
        }

        /** Acquires the lock, or takes it from the transaction, to which a new lease is handed over; empty to skip the method. */
        private Mono<Lease> lease() {
            if (!HeldLock.TRANSACTIONS) {
                return acquire();
            }
            return ReactiveTransactionLease.reuse(client, lock.name())
                    .map(this::reuse)
                    .switchIfEmpty(Mono.defer(this::acquire)
                            .flatMap(lease -> ReactiveTransactionLease.current()
                                    .doOnNext(transaction -> leaveTo(transaction, lease))
                                    .thenReturn(lease)));
        }

        private Lease reuse(ReactiveTransactionLease held) {
            inTransaction = held;
            LeaseLostException loss = HeldLock.loss(held.lease());
            if (loss != null) {
                endInTransaction(); // now, since what follows the failure may be the next to use the lease
                throw loss;
            }
            return held.lease();
        }

        /** Leaves the release to the transaction, unless the subscription was cancelled meanwhile, which releases the lease. */
        private void leaveTo(TransactionSynchronizationManager transaction, Lease lease) {
            if (!takenOver.compareAndSet(false, true)) {
                return;
            }
            try {
                inTransaction = ReactiveTransactionLease.register(transaction, client, lease);
            } catch (Throwable e) {
                takenOver.set(false);
                abandon();
                throw e;
            }
            if (cancelled) {
                endInTransaction();
            }
        }

        private Mono<Lease> acquire() {
            CompletableFuture<Optional<Lease>> request = lock.tryAcquireAsync(locked.maxWait());
            acquired = request;
            if (cancelled) { // before anybody could cancel the request
                abandon();
            }
            return Mono.fromFuture(request).flatMap(lease -> {
                if (lease.isPresent()) {
                    return Mono.just(lease.get());
                }
                LockedInterceptor.logBusy(locked, lock);
                return locked.busy() == BusyPolicy.SKIP
                        ? Mono.empty()
                        : Mono.error(new LockBusyException(lock.name(), locked.maxWait()));
            });
        }

        private Publisher<?> complete(Lease lease) {
            return end(lease).flatMap(loss -> {
                lost = loss;
                return Mono.error(loss);
            });
        }

        private Publisher<?> fail(Lease lease, Throwable failure) {
            return end(lease).doOnNext(loss -> HeldLock.suppress(failure, loss));
        }

        /** Releases the lease, or leaves that to the transaction; gives the loss of the lease, or nothing. */
        private Mono<LeaseLostException> end(Lease lease) {
            if (inTransaction != null) {
                endInTransaction();
                return Mono.justOrEmpty(HeldLock.loss(lease));
            }
            return Mono.fromFuture(lease.releaseAsync())
                    .flatMap(outcome -> Mono.justOrEmpty(HeldLock.lossOf(lease, outcome)));
        }

        /** Undoes that Reactor wraps a failure of the release. */
        private Throwable unwrapped(Throwable failure) {
            LeaseLostException loss = lost;
            return loss != null && failure.getCause() == loss ? loss : failure;
        }

        /** Ends what no other step has ended, such as after a cancellation at any time. */
        private void ended(SignalType signal) {
            endInTransaction();
            if (signal == SignalType.CANCEL) {
                cancelled = true;
                abandon();
                endInTransaction(); // the lease may have been left to the transaction just now
            }
        }

        /** Lets later publishers of the transaction use the lease, only once, since one may do so already. */
        private void endInTransaction() {
            ReactiveTransactionLease held = inTransaction;
            if (held != null && ended.compareAndSet(false, true)) {
                held.ended();
            }
        }

        /** Withdraws the request, or releases its lease unless a transaction will. A second release has no effect (S5). */
        private void abandon() {
            CompletableFuture<Optional<Lease>> request = acquired;
            if (request != null && takenOver.compareAndSet(false, true)) {
                request.cancel(false);
                request.thenAccept(lease -> lease.ifPresent(Lease::releaseAsync));
            }
        }
    }
}
