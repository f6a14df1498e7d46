// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** Sells units, each once, however many shops there are. Thread-safe. */
final class Shop {
    private final LockClient locks;
    private final StockFile stock;
    private final Duration patience;
    private final Duration work;

    /**
     * @param patience how long a buyer waits for those before
     * @param work how long a sale takes beside reading and writing the stock
     */
    Shop(LockClient locks, StockFile stock, Duration patience, Duration work) {
        this.locks = locks;
        this.stock = stock;
        this.patience = patience;
        this.work = work;
    }

    /** Sells one unit under the lock of its item; items do not wait for each other. */
    Sale buy(String item) throws IOException, StaleTokenException, InterruptedException {
        if (left(item).isEmpty()) {
            return new Sale.Unknown(); // and no lock for any name that somebody makes up
        }
        Optional<Lease> granted = locks.named(lockName(item)).tryAcquire(patience);
        if (granted.isEmpty()) {
            return new Sale.Busy();
        }
        try (Lease lease = granted.get()) {
            return sell(item, lease);
        }
    }

    private Sale sell(String item, Lease lease) throws IOException, StaleTokenException, InterruptedException {
        int left = left(item).orElse(0);
        if (left == 0) {
            return new Sale.SoldOut();
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
        return new Sale.Sold(left, lease.fencingToken());
    }

    /** Whoever only looks needs no lock. */
    OptionalInt left(String item) throws IOException {
        return stock.left(item);
    }

    static String lockName(String item) {
        return "inventory/" + item;
    }
}
