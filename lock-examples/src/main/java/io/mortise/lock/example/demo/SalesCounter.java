// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts what the workers report in one run. Not thread-safe. */
final class SalesCounter {
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

    /** Acknowledged sales. */
    long sold() {
        return sold;
    }

    /** @param left what the stock's file says in the end */
    DemoRunResult result(int items, int left) {
        return new DemoRunResult(items, left, sold, refused, refusedHolders, handOffs(), repeatedTokens);
    }

    /** How often a sale was another worker's than the one before; tokens are their order. */
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
