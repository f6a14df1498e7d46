// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/** A lease that a reactive transaction releases when it has completed. Loaded only if Reactor and spring-tx are present. */
final class ReactiveTransactionLease implements TransactionSynchronization {
    private final LockClient client;
    private final Lease lease;
    private final AtomicBoolean running = new AtomicBoolean(true);

    private ReactiveTransactionLease(LockClient client, Lease lease) {
        this.client = client;
        this.lease = lease;
    }

    /** Leaves the release to the transaction. */
    static ReactiveTransactionLease register(
            TransactionSynchronizationManager transaction, LockClient client, Lease lease) {
        ReactiveTransactionLease registered = new ReactiveTransactionLease(client, lease);
        transaction.registerSynchronization(registered);
        return registered;
    }

    /** Returns the lease that the current transaction already holds for a publisher that has ended; empty if there is none. */
    static Mono<ReactiveTransactionLease> reuse(LockClient client, String name) {
        return current()
                .flatMap(transaction -> Mono.justOrEmpty(transaction.getSynchronizations().stream()
                        .filter(ReactiveTransactionLease.class::isInstance)
                        .map(ReactiveTransactionLease.class::cast)
                        .filter(held ->
                                held.client == client && held.lease.lockName().equals(name))
                        .filter(held -> held.running.compareAndSet(false, true))
                        .findFirst()));
    }

    /** Returns the current transaction; empty if there is none. */
    static Mono<TransactionSynchronizationManager> current() {
        return TransactionSynchronizationManager.forCurrentTransaction()
                .onErrorComplete(NoTransactionException.class)
                .filter(transaction ->
                        transaction.isSynchronizationActive() && transaction.isActualTransactionActive());
    }

    Lease lease() {
        return lease;
    }

    /** Marks that the publisher has ended. */
    void ended() {
        running.set(false);
    }

    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
        return Mono.fromRunnable(lease::ensureHeld);
    }

    @Override
    public Mono<Void> afterCompletion(int status) {
        return Mono.fromFuture(lease.releaseAsync()).then();
    }
}
