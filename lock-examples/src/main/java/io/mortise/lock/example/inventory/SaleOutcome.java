// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** Outcome of one sale. */
sealed interface SaleOutcome {
    /** Bought. Units are numbered downwards: this one is nobody else's. */
    record Sold(int unit, long token) implements SaleOutcome {}

    /** None is left. */
    record SoldOut() implements SaleOutcome {}

    /** There is no such item. */
    record Unknown() implements SaleOutcome {}

    /** Others were buying it all the time. */
    record Busy() implements SaleOutcome {}
}
