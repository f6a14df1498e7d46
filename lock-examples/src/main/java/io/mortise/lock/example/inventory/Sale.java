// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** What became of a wish to buy. */
sealed interface Sale {
    /** Bought. Units are numbered downwards: this one is nobody else's. */
    record Sold(int unit, long token) implements Sale {}

    /** None is left. */
    record SoldOut() implements Sale {}

    /** There is no such item. */
    record Unknown() implements Sale {}

    /** Others were buying it all the time. */
    record Busy() implements Sale {}
}
