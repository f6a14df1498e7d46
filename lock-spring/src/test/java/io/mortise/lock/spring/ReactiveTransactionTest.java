// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tests leases and reactive transactions. */
class ReactiveTransactionTest {
    /** A manager without a database, which records what it does, and whether the lock is free then. */
    @SuppressWarnings("serial") // it is never serialized
    private final class Recorder extends AbstractReactiveTransactionManager {
        @Override
        protected Object doGetTransaction(TransactionSynchronizationManager current) {
            return new Object();
        }

        @Override
        protected Mono<Void> doBegin(
                TransactionSynchronizationManager current, Object transaction, TransactionDefinition definition) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> doCommit(
                TransactionSynchronizationManager current, GenericReactiveTransaction transaction) {
            return Mono.fromRunnable(() -> events.add(context.isFree("stock") ? "commit free" : "commit locked"));
        }

        @Override
        protected Mono<Void> doRollback(
                TransactionSynchronizationManager current, GenericReactiveTransaction transaction) {
            return Mono.fromRunnable(() -> events.add("rollback"));
        }
    }

    static class Stock {
        @Locked(name = "stock", maxWait = "0s")
        public Mono<String> owner() {
            return ReactiveCurrentLease.get().map(Lease::ownerId);
        }

        @Locked(name = "stock", maxWait = "0s")
        public Mono<String> inside(Mono<String> work) {
            return work;
        }
    }

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final LockContext context = LockContext.start(Stock.class);
    private final Stock stock = context.bean(Stock.class);
    private final TransactionalOperator transactions = TransactionalOperator.create(new Recorder());

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void S01_theLockIsReleasedAfterTheCommitOfAnInnerTransaction() {
        stock.inside(Mono.just("done").as(transactions::transactional)).block(LIMIT);
        assertThat(events).containsExactly("commit locked");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void S01_insideATransactionTheReleaseWaitsForItsCompletion() {
        stock.owner()
                .doOnNext(owner -> events.add(context.isFree("stock") ? "free" : "locked"))
                .as(transactions::transactional)
                .block(LIMIT);
        assertThat(events).containsExactly("locked", "commit locked");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void S07_aLossAfterTheMethodRollsTheTransactionBack() {
        Mono<String> lossy =
                stock.owner().doOnNext(owner -> context.lose("stock")).as(transactions::transactional);
        assertThatThrownBy(() -> lossy.block(LIMIT)).isInstanceOf(LeaseLostException.class);
        assertThat(events).containsExactly("rollback");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void theReleaseFollowsARollback() {
        Mono<String> failing = stock.owner()
                .<String>flatMap(owner -> Mono.error(new IllegalArgumentException("the work failed")))
                .as(transactions::transactional);
        assertThatThrownBy(() -> failing.block(LIMIT)).isInstanceOf(IllegalArgumentException.class);
        assertThat(events).containsExactly("rollback");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void aSecondCallInTheTransactionUsesTheSameLease() {
        List<String> owners = Flux.concat(stock.owner(), stock.owner())
                .as(transactions::transactional)
                .collectList()
                .blockOptional(LIMIT)
                .orElseThrow();
        assertThat(owners).hasSize(2);
        assertThat(owners.get(0)).isEqualTo(owners.get(1));
        assertThat(context.isFree("stock")).isTrue();
    }

    /** Two publishers that run at the same time exclude each other, also in one transaction. */
    @Test
    void S01_publishersOfOneTransactionExcludeEachOther() {
        Mono<String> both =
                stock.inside(Mono.never()).mergeWith(stock.owner()).next().as(transactions::transactional);
        assertThatThrownBy(() -> both.block(LIMIT)).isInstanceOf(LockBusyException.class);
        assertThat(events).containsExactly("rollback");
    }

    /** A publisher that finds the lease lost ends its use, so that no later one acquires another lease beside it. */
    @Test
    void S07_aLostLeaseStaysThatOfTheTransaction() {
        Mono<String> all = stock.owner()
                .doOnNext(owner -> context.lose("stock"))
                .then(stock.owner().onErrorResume(LeaseLostException.class, failure -> {
                    events.add("lost");
                    return Mono.empty();
                }))
                .then(stock.owner().doOnNext(owner -> events.add("ran")))
                .as(transactions::transactional);
        assertThatThrownBy(() -> all.block(LIMIT)).isInstanceOf(LeaseLostException.class);
        assertThat(events).containsExactly("lost", "rollback");
    }

    @Test
    void S10_aCancelledPublisherLeavesItsLeaseToTheTransaction() {
        Sinks.Empty<String> started = Sinks.empty();
        Mono<String> both = Mono.firstWithSignal(
                        stock.inside(Mono.<String>never().doOnSubscribe(ignored -> started.tryEmitEmpty())),
                        started.asMono())
                .then(stock.owner())
                .doOnNext(owner -> events.add(context.isFree("stock") ? "free" : "locked"))
                .as(transactions::transactional);
        assertThat(both.blockOptional(LIMIT)).isPresent();
        assertThat(events).containsExactly("locked", "commit locked");
        assertThat(context.isFree("stock")).isTrue();
    }
}
