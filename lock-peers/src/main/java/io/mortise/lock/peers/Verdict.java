// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

/** The possible judgements of a lock library by one test, or by all tests of a rule. */
enum Verdict {
    KEPT("✔"),
    FAILED("✘"),
    NEVER_CLAIMED("–"),
    NOT_CHECKED("?");

    private final String symbol;

    Verdict(String symbol) {
        this.symbol = symbol;
    }

    /** Returns the sign for tables. */
    String symbol() {
        return symbol;
    }
}
