// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory.page;

/** A table that rejects writes with a fencing token below the highest one that it has seen. */
public interface StockTable {
    void subtract(int count, long token);
}
