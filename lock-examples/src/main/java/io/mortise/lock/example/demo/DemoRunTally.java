// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts the sales and refused writes that the workers report in one run of the demo. Not thread-safe. */
final class DemoRunTally {
    private final Map<Long, String> sellers = new TreeMap<>();
    private long sold;
    private long refused;
    private long refusedHolders;
    private long repeatedTokens;

    void count(String worker, WorkerMessage message) {
        if (message instanceof WorkerMessage.Sold sale) {
            sold++;
            if (sale.token().isPresent() && sellers.put(sale.token().getAsLong(), worker) != null) {
                repeatedTokens++;
            }
        } else if (message instanceof WorkerMessage.Refused refusal) {
            refused++;
            refusedHolders += refusal.held() ? 1 : 0;
        }
    }

    /** Returns the number of acknowledged sales. */
    long sold() {
        return sold;
    }

    /**
     * Returns the result of the run.
     *
     * @param items number of items in stock at the start
     * @param left number of items in stock at the end
     */
    DemoRunResult result(int items, int left) {
        return new DemoRunResult(items, left, sold, refused, refusedHolders, handOffs(), repeatedTokens);
    }

    /** Returns the number of sales by another worker than the sale before, in the order of their tokens. */
    private long handOffs() {
        long handOffs = 0;
        @Nullable String before = null;
        for (String seller : sellers.values()) {
            handOffs += before == null || before.equals(seller) ? 0 : 1;
            before = seller;
        }
        return handOffs;
    }
}
