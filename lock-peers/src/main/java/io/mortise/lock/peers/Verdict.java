// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

/** The possible verdicts on a lock library, either from one test or from all tests of one rule. */
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
