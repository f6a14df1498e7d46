// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Tests leases and transactions on a database. */
class TransactionTest {
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class DefaultOrder {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class TransactionOutside {}

    static class Stock {
        private final JdbcTemplate jdbc;

        Stock(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Locked(name = "stock", maxWait = "0s")
        @Transactional
        public void inTransaction(Runnable then) {
            jdbc.update("INSERT INTO sold VALUES (1)");
            then.run();
        }

        @Locked(name = "stock", maxWait = "0s")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void inNewTransaction(Runnable then) {
            jdbc.update("INSERT INTO sold VALUES (2)");
            then.run();
        }

        @Locked(name = "stock", maxWait = "0s")
        public void plain(Runnable then) {
            jdbc.update("INSERT INTO sold VALUES (3)");
            then.run();
        }

        @Locked(name = "stock", maxWait = "0s")
        public CompletableFuture<String> async(CompletableFuture<String> work) {
            jdbc.update("INSERT INTO sold VALUES (4)");
            return work;
        }
    }

    private final List<String> events = new ArrayList<>();
    private LockContext context;
    private Stock stock;
    private JdbcTemplate jdbc;
    private TransactionTemplate transactions;

    @BeforeEach
    void start() {
        start(DefaultOrder.class);
    }

    private void start(Class<?> order) {
        context = LockContext.start(TestDatabase.class, order, Stock.class);
        stock = context.bean(Stock.class);
        jdbc = context.bean(JdbcTemplate.class);
        transactions = context.bean(TransactionTemplate.class);
        jdbc.execute("CREATE TABLE sold (id INT)");
    }

    @AfterEach
    void close() {
        context.close();
    }

    private int rows() {
        return context.bean(JdbcTemplate.class)
                .queryForList("SELECT id FROM sold")
                .size();
    }

    /** Records at each phase of the current transaction whether the lock is free. */
    private void observe() {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                record("beforeCommit");
            }

            @Override
            public void afterCommit() {
                record("afterCommit");
            }

            private void record(String phase) {
                events.add(phase + (context.isFree("stock") ? " free" : " locked"));
            }
        });
    }

    /** Reproduces Redisson issues 2183 and 1878: a lock that is released before the commit. */
    @Test
    void S01_theLockIsReleasedAfterTheCommitOfItsOwnTransaction() {
        stock.inTransaction(this::observe);
        assertThat(events).containsExactly("beforeCommit locked", "afterCommit locked");
        assertThat(context.isFree("stock")).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void S07_aLossRollsTheOwnTransactionBack() {
        assertThatThrownBy(() -> stock.inTransaction(() -> context.lose("stock")))
                .isInstanceOf(LeaseLostException.class)
                .satisfies(loss -> assertThat(loss.getSuppressed()).isEmpty());
        assertThat(rows()).isZero();
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void S07_aLossRollsATransactionTemplateInsideTheMethodBack() {
        assertThatThrownBy(() -> stock.plain(() -> transactions.executeWithoutResult(status -> {
                    jdbc.update("INSERT INTO sold VALUES (5)");
                    context.lose("stock");
                })))
                .isInstanceOf(LeaseLostException.class);
        assertThat(jdbc.queryForList("SELECT id FROM sold", Integer.class)).containsExactly(3);
    }

    @Test
    void S01_insideATransactionTheReleaseWaitsForItsCompletion() {
        transactions.executeWithoutResult(status -> {
            stock.plain(this::observe);
            assertThat(context.isFree("stock")).isFalse();
            assertThatThrownBy(CurrentLease::get).isInstanceOf(IllegalStateException.class);
        });
        assertThat(events).containsExactly("beforeCommit locked", "afterCommit locked");
        assertThat(context.isFree("stock")).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void S01_aTransactionAdvisorOutsideTheLockDelaysTheReleaseToo() {
        context.close();
        start(TransactionOutside.class);
        stock.inTransaction(this::observe);
        assertThat(events).containsExactly("beforeCommit locked", "afterCommit locked");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void theReleaseFollowsARollback() {
        transactions.executeWithoutResult(status -> {
            stock.plain(() -> {});
            status.setRollbackOnly();
        });
        assertThat(rows()).isZero();
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void theReleaseFollowsACommitThatFails() {
        assertThatThrownBy(() -> stock.inTransaction(
                        () -> transactions.executeWithoutResult(TransactionStatus::setRollbackOnly)))
                .isInstanceOf(UnexpectedRollbackException.class);
        assertThat(context.isFree("stock")).isTrue();
        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> {
                    stock.plain(() -> {});
                    transactions.executeWithoutResult(TransactionStatus::setRollbackOnly);
                }))
                .isInstanceOf(UnexpectedRollbackException.class);
        assertThat(context.isFree("stock")).isTrue();
        assertThat(rows()).isZero();
    }

    @Test
    void aFailureOfTheMethodKeepsTheLockUntilTheTransactionEnds() {
        transactions.executeWithoutResult(status -> {
            assertThatThrownBy(() -> stock.plain(() -> {
                        throw new IllegalArgumentException("the body failed");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(context.isFree("stock")).isFalse();
        });
        assertThat(rows()).isEqualTo(1);
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void S07_aLossAfterTheMethodRollsTheOuterTransactionBack() {
        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> {
                    stock.plain(() -> {});
                    context.lose("stock");
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(rows()).isZero();
        assertThat(context.isFree("stock")).isTrue();
    }

    /** A caller that catches the exception of the call cannot commit all the same. */
    @Test
    void S07_aLossThatTheCallerIgnoresRollsTheOuterTransactionBack() {
        assertThatThrownBy(() -> transactions.executeWithoutResult(
                        status -> assertThatThrownBy(() -> stock.plain(() -> context.lose("stock")))
                                .isInstanceOf(LeaseLostException.class)))
                .isInstanceOf(LeaseLostException.class);
        assertThat(rows()).isZero();
    }

    @Test
    void aSecondCallInTheTransactionUsesTheSameLease() {
        List<String> owners = new ArrayList<>();
        Consumer<Object> twice = ignored -> {
            stock.plain(() -> owners.add(CurrentLease.get().ownerId()));
            stock.inTransaction(() -> owners.add(CurrentLease.get().ownerId()));
            stock.inNewTransaction(() -> owners.add(CurrentLease.get().ownerId()));
        };
        transactions.executeWithoutResult(twice::accept);
        assertThat(owners).hasSize(3);
        assertThat(owners.stream().distinct()).hasSize(1);
        assertThat(rows()).isEqualTo(3);
        assertThat(context.isFree("stock")).isTrue();
        stock.plain(() -> owners.add(CurrentLease.get().ownerId()));
        assertThat(owners.stream().distinct()).hasSize(2);
    }

    @Test
    void S04_aNestedCallInTheTransactionIsNotReentrant() {
        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> stock.plain(() -> stock.plain(() -> {}))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not reentrant");
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void anotherTransactionOfTheThreadDoesNotEndTheLease() {
        transactions.executeWithoutResult(status -> {
            stock.plain(() -> {});
            TransactionTemplate inner = new TransactionTemplate(context.bean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
            inner.executeWithoutResult(innerStatus -> jdbc.update("INSERT INTO sold VALUES (6)"));
            assertThat(context.isFree("stock")).isFalse();
        });
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void S07_aNewTransactionThatUsesTheLeaseOfTheOuterOneRollsBackAfterALoss() {
        TransactionTemplate inner = new TransactionTemplate(context.bean(PlatformTransactionManager.class));
        inner.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
        assertThatThrownBy(() -> transactions.executeWithoutResult(status -> {
                    stock.plain(() -> {});
                    assertThatThrownBy(() -> inner.executeWithoutResult(innerStatus -> {
                                stock.plain(() -> {});
                                context.lose("stock");
                            }))
                            .isInstanceOf(LeaseLostException.class);
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(rows()).isZero();
    }

    @Test
    void S07_aMethodThatRunsJustBeforeTheCommitIsCheckedToo() {
        assertThatThrownBy(() -> transactions.executeWithoutResult(status ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void beforeCommit(boolean readOnly) {
                                stock.plain(() -> {});
                                context.lose("stock");
                            }
                        })))
                .isInstanceOf(LeaseLostException.class);
        assertThat(rows()).isZero();
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void aStageInsideATransactionKeepsTheLockUntilBothHaveEnded() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = transactions.execute(status -> stock.async(work));
        assertThat(context.isFree("stock")).isFalse();
        work.complete("done");
        assertThat(result.get()).isEqualTo("done");
        try (Lease next = context.other().named("stock").acquire()) {
            assertThat(next.isHeld()).isTrue();
        }

        transactions.executeWithoutResult(status -> {
            assertThat(stock.async(CompletableFuture.completedFuture("done"))).isCompletedWithValue("done");
            assertThat(context.isFree("stock")).isFalse();
        });
        assertThat(context.isFree("stock")).isTrue();
    }

    @Test
    void aTemplateBehavesInATransactionAsTheAnnotation() {
        LockTemplate locks = context.bean(LockTemplate.class);
        transactions.executeWithoutResult(status -> {
            locks.run("stock", lease -> jdbc.update("INSERT INTO sold VALUES (7)"));
            assertThat(context.isFree("stock")).isFalse();
            stock.plain(() -> {}); // the same lease
        });
        assertThat(context.isFree("stock")).isTrue();
        assertThatThrownBy(() -> locks.run(
                        "stock",
                        lease -> transactions.executeWithoutResult(status -> {
                            jdbc.update("INSERT INTO sold VALUES (8)");
                            context.lose("stock");
                        })))
                .isInstanceOf(LeaseLostException.class);
        assertThat(jdbc.queryForList("SELECT id FROM sold", Integer.class)).containsExactly(7, 3);
    }

    @Configuration(proxyBeanMethods = false)
    static class Outer {
        @Bean
        static BeanPostProcessor early(PlatformTransactionManager manager) {
            return new BeanPostProcessor() {};
        }
    }

    private void assertChecked(LockContext withLocks, TransactionTemplate template, JdbcTemplate rows) {
        LockTemplate locks = withLocks.bean(LockTemplate.class);
        assertThatThrownBy(() -> locks.run(
                        "stock",
                        lease -> template.executeWithoutResult(status -> {
                            rows.update("INSERT INTO sold VALUES (9)");
                            withLocks.lose("stock");
                        })))
                .isInstanceOf(LeaseLostException.class);
        assertThat(rows.queryForList("SELECT id FROM sold")).isEmpty();
    }

    @Test
    void S07_aManagerOfAParentContextIsCheckedToo() {
        try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext(TestDatabase.class);
                LockContext child = LockContext.startUnder(parent)) {
            JdbcTemplate rows = parent.getBean(JdbcTemplate.class);
            rows.execute("CREATE TABLE sold (id INT)");
            assertChecked(child, parent.getBean(TransactionTemplate.class), rows);
        }
    }

    @Test
    void S07_aManagerThatWasCreatedTooEarlyIsCheckedToo() {
        try (LockContext early = LockContext.start(TestDatabase.class, Outer.class)) {
            JdbcTemplate rows = early.bean(JdbcTemplate.class);
            rows.execute("CREATE TABLE sold (id INT)");
            assertChecked(early, early.bean(TransactionTemplate.class), rows);
        }
    }

    /** The caller may cancel its future; the work goes on, and so must the lease. */
    @Test
    void S01_aCancelledStageInATransactionKeepsTheLockUntilItsWorkEnds() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        transactions.executeWithoutResult(status -> {
            assertThat(stock.async(work).cancel(true)).isTrue();
            assertThatThrownBy(() -> stock.plain(() -> {})).isInstanceOf(LockBusyException.class);
        });
        assertThat(context.isFree("stock")).isFalse();
        work.complete("done");
        try (Lease next = context.other().named("stock").acquire()) {
            assertThat(next.isHeld()).isTrue();
        }
    }
}
