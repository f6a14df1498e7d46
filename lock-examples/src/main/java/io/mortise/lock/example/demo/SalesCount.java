// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts what the workers report in one run. Not thread-safe. */
final class SalesCount {
    private final Map<Long, String> sellers = new HashMap<>();
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
    RunResult result(int items, int left) {
        return new RunResult(items, left, sold, refused, refusedHolders, handOffs(), repeatedTokens);
    }

    /** How often a sale was another worker's than the one before; tokens are their order. */
    private long handOffs() {
        List<Long> inOrder = new ArrayList<>(sellers.keySet());
        inOrder.sort(null);
        long handOffs = 0;
        for (int i = 1; i < inOrder.size(); i++) {
            handOffs += sellers.get(inOrder.get(i)).equals(sellers.get(inOrder.get(i - 1))) ? 0 : 1;
        }
        return handOffs;
    }
}
