// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

/**
 * One run through the stock.
 *
 * @param items in stock at the start
 * @param sold sales that workers acknowledged
 * @param refusedHolders writes refused although the writer still held the lock afterwards; right is 0
 * @param stock the file at the end
 */
record Run(int items, long sold, long refusedHolders, Stock stock) {
    static Run of(int items, Tally tally, Stock stock) {
        return new Run(items, tally.sold(), tally.refusedHolders(), stock);
    }

    /** By how much the stock went down. */
    long removed() {
        return (long) items - stock.left();
    }

    /** Sales that left no trace in the stock. */
    long lost() {
        return sold - removed();
    }

    /** Each accepted write had a token above all before, and no holder was refused. */
    boolean tokensInOrder() {
        return stock.repeated() == 0 && refusedHolders == 0;
    }
}
