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

/** Sells items from the stock, holding each item's lock so that no unit is sold twice. Thread-safe. */
final class Shop {
    private final LockClient locks;
    private final FencedStockFile stock;
    private final Duration maxWait;
    private final Work work;

    /** The work of a sale between reading and writing the stock. */
    interface Work {
        void run() throws InterruptedException;
    }

    /**
     * Creates a shop.
     *
     * @param locks client for the locks of the items
     * @param stock the stock
     * @param maxWait how long a buyer waits for the lock of an item
     * @param work what each sale does between reading and writing the stock
     */
    Shop(LockClient locks, FencedStockFile stock, Duration maxWait, Work work) {
        this.locks = locks;
        this.stock = stock;
        this.maxWait = maxWait;
        this.work = work;
    }

    /**
     * Sells one unit under the lock of its item. A waiting buyer occupies no thread, so buyers of other items are not delayed.
     *
     * @param threads executor that runs the sale once the lock is granted
     * @return the outcome; fails if the sale fails
     */
    CompletableFuture<SaleOutcome> buy(String item, Executor threads) throws IOException {
        if (left(item).isEmpty()) {
            return CompletableFuture.completedFuture(
                    new SaleOutcome.Unknown()); // does not acquire a lock for an arbitrary name
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
        try {
            // Raises the stored token before the read: an earlier holder that was paused can no longer write, so this
            // read stays true until the write.
            int left = stock.fenceAndRead(item, lease.fencingToken());
            if (left == 0) {
                return new SaleOutcome.SoldOut();
            }
            work.run();
            // If this process was paused until another client held the lock and read, the stock rejects the write.
            stock.write(item, left - 1, lease.fencingToken());
            return new SaleOutcome.Sold(left, lease.fencingToken());
        } catch (StaleTokenException e) {
            if (lease.isHeld()) {
                throw new IOException(
                        "the stock was written under locks of another store, whose tokens are higher; use a new stock file",
                        e);
            }
            throw e;
        }
    }

    /** Returns the number of units left, without a lock; empty if there is no such item. */
    OptionalInt left(String item) throws IOException {
        return stock.left(item);
    }

    static String lockName(String item) {
        return "inventory/" + item;
    }
}
