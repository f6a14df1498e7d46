// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** The outcome of a request to buy one unit of an item. */
sealed interface SaleOutcome {
    /**
     * The unit was sold.
     *
     * @param unit number of the unit, counting down; no other buyer gets the same number
     * @param token fencing token of the sale
     */
    record Sold(int unit, long token) implements SaleOutcome {}

    /** The item is sold out. */
    record SoldOut() implements SaleOutcome {}

    /** There is no item of that name. */
    record Unknown() implements SaleOutcome {}

    /** The lock of the item was not granted in time, since other buyers held it. */
    record Busy() implements SaleOutcome {}
}
