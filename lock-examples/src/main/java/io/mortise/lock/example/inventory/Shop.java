// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/** Sells units under the lock of their item, each unit once. Thread-safe. */
final class Shop {
    private final LockClient locks;
    private final StockFile stock;
    private final Duration maxWait;
    private final Duration work;

    /**
     * @param maxWait how long a buyer waits for those before
     * @param work how long a sale takes beside reading and writing the stock
     */
    Shop(LockClient locks, StockFile stock, Duration maxWait, Duration work) {
        this.locks = locks;
        this.stock = stock;
        this.maxWait = maxWait;
        this.work = work;
    }

    /**
     * Sells one unit under the lock of its item. Items do not wait for each other: a buyer who waits takes no thread from others.
     *
     * @param threads on which the sale runs once this buyer has the lock; fails with what selling fails with
     */
    CompletableFuture<SaleOutcome> buy(String item, Executor threads) throws IOException {
        if (left(item).isEmpty()) {
            return CompletableFuture.completedFuture(
                    new SaleOutcome.Unknown()); // and no lock for any name that somebody makes up
        }
        return locks.named(lockName(item))
                .tryAcquireAsync(maxWait)
                .thenApplyAsync(
                        granted -> granted.map(lease -> sold(item, lease)).orElseGet(SaleOutcome.Busy::new), threads);
    }

    private SaleOutcome sold(String item, Lease granted) {
        try (Lease lease = granted) {
            return sell(item, lease);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CompletionException(e);
        } catch (IOException | StaleTokenException e) {
            throw new CompletionException(e);
        }
    }

    private SaleOutcome sell(String item, Lease lease) throws IOException, StaleTokenException, InterruptedException {
        int left = left(item).orElse(0);
        if (left == 0) {
            return new SaleOutcome.SoldOut();
        }
        Thread.sleep(work.toMillis());
        try {
            // If this process was paused until the lock was another's, the token is too low and the stock refuses it.
            stock.write(item, left - 1, lease.fencingToken());
        } catch (StaleTokenException e) {
            if (lease.isHeld()) {
                throw new IOException("the stock was written under locks of another store, whose tokens are higher", e);
            }
            throw e;
        }
        return new SaleOutcome.Sold(left, lease.fencingToken());
    }

    /** Reading needs no lock. */
    OptionalInt left(String item) throws IOException {
        return stock.left(item);
    }

    static String lockName(String item) {
        return "inventory/" + item;
    }
}
