// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

/**
 * Result of one run, with or without the lock: sales, refused writes, hand-offs.
 *
 * @param items in stock at the start
 * @param left in stock at the end, as the file says
 * @param sold sales that workers acknowledged
 * @param refused writes that the file refused
 * @param refusedHolders those of them whose writer still held the lock afterwards; right is 0
 * @param handOffs how often a sale was another worker's than the one before
 * @param repeatedTokens sales with a token that an earlier one had; each sale has a grant of its own, so 0 is right
 */
record DemoRunResult(
        int items, int left, long sold, long refused, long refusedHolders, long handOffs, long repeatedTokens) {
    /** By how much the stock went down. */
    long removed() {
        return (long) items - left;
    }

    /** Sales that left no trace in the stock. */
    long lost() {
        return sold - removed();
    }

    /** Each sale had a token of its own, and no holder was refused. */
    boolean tokensInOrder() {
        return repeatedTokens == 0 && refusedHolders == 0;
    }
}
