// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

/**
 * Counts of sales, refused writes and hand-offs in one run of the demo, with or without the lock.
 *
 * @param items number of items in stock at the start
 * @param left number of items in stock at the end, according to the file
 * @param sold number of sales that workers acknowledged
 * @param refused number of writes that the file refused
 * @param refusedHolders number of refused writes whose writer still held the lock afterwards; must be 0
 * @param handOffs number of sales by a different worker than the preceding sale
 * @param repeatedTokens number of sales with the token of an earlier sale; must be 0, since each sale has its own grant
 */
record DemoRunResult(
        int items, int left, long sold, long refused, long refusedHolders, long handOffs, long repeatedTokens) {
    /** Returns the number of items by which the stock decreased. */
    long removed() {
        return (long) items - left;
    }

    /** Returns the number of sales whose update of the stock was lost. */
    long lost() {
        return sold - removed();
    }

    /** Returns whether each sale had its own token and no write of a current holder was refused. */
    boolean tokensInOrder() {
        return repeatedTokens == 0 && refusedHolders == 0;
    }
}
