// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory.page;

import io.mortise.lock.LeaseLock;
import io.mortise.lock.LockClient;

public final class Stock {
    private final LeaseLock lock;

    public Stock(LockClient locks) {
        this.lock = locks.named("stock").asLock(); // one view, which all threads share
    }

    public void take(StockTable table, int count) {
        lock.lock();
        try {
            table.subtract(count, lock.lease().fencingToken()); // the table rejects lower tokens
        } finally {
            lock.unlock(); // LeaseLostException if the lease was lost meanwhile
        }
    }
}
