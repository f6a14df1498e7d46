// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Tests what a locked method reads in transactions that read a snapshot of the database. */
class TransactionIsolationTest {
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {}

    static class Stock {
        private final JdbcTemplate jdbc;

        Stock(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Locked(name = "stock", maxWait = "60s")
        @Transactional(isolation = Isolation.REPEATABLE_READ)
        public int sellOne() {
            return readAndWrite();
        }

        @Locked(name = "stock", maxWait = "60s")
        public int left() {
            return read();
        }

        private int readAndWrite() {
            int left = read() - 1;
            jdbc.update("UPDATE stock SET amount = ?", left);
            return left;
        }

        private int read() {
            return jdbc.queryForObject("SELECT amount FROM stock", Integer.class);
        }
    }

    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private LockContext context;
    private Stock stock;

    @BeforeEach
    void start() {
        context = LockContext.start(TestDatabase.class, Transactions.class, Stock.class);
        stock = context.bean(Stock.class);
        JdbcTemplate jdbc = context.bean(JdbcTemplate.class);
        jdbc.execute("CREATE TABLE stock (amount INT)");
        jdbc.update("INSERT INTO stock VALUES (100)");
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        context.close();
    }

    private <T> T elsewhere(Callable<T> call) {
        try {
            return threads.submit(call).get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Reproduces spring-framework issue 23549: two transactions that sell the same piece, since the lock ends before the commit. */
    @Test
    void S01_aTransactionInsideTheLockReadsWhatThePreviousHolderCommitted() throws Exception {
        List<Future<Integer>> sales = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            sales.add(threads.submit(stock::sellOne));
        }
        List<Integer> left = new ArrayList<>();
        for (Future<Integer> sale : sales) {
            left.add(result(sale));
        }
        assertThat(left).doesNotHaveDuplicates();
        assertThat(stock.left()).isZero();
    }

    private static int result(Future<Integer> sale) throws InterruptedException {
        try {
            return sale.get();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** The page says so: a snapshot that is older than the lock does not show what was done under the lock meanwhile. */
    @Test
    void aTransactionThatIsOlderThanTheLockMayReadItsSnapshot() {
        TransactionTemplate older = context.bean(TransactionTemplate.class);
        older.setIsolationLevel(TransactionTemplate.ISOLATION_REPEATABLE_READ);
        older.executeWithoutResult(status -> {
            assertThat(context.bean(JdbcTemplate.class).queryForObject("SELECT amount FROM stock", Integer.class))
                    .isEqualTo(100);
            assertThat(elsewhere(stock::sellOne)).isEqualTo(99);
            assertThat(stock.left()).isEqualTo(100);
        });
        assertThat(stock.left()).isEqualTo(99);
    }
}
