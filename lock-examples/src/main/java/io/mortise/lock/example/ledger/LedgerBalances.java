// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * Balances of the accounts, computed from the ledger's entries. Whoever reads the same entries comes to the same result. Not
 * thread-safe.
 */
final class LedgerBalances implements Consumer<LedgerEntry> {
    private final Map<String, Integer> movesBy = new HashMap<>();
    private long[] balances = {};
    private long token;
    private int late;
    private int wrong;

    @Override
    public void accept(LedgerEntry entry) {
        if (entry instanceof LedgerEntry.Start start) {
            balances = LongStream.generate(start::each).limit(start.accounts()).toArray();
        } else if (entry instanceof LedgerEntry.Fence fence) {
            token = Math.max(token, fence.token());
        } else if (entry instanceof LedgerEntry.Move move) {
            if (move.token() < token) {
                late++;
            } else {
                book(move);
            }
        }
    }

    private void book(LedgerEntry.Move move) {
        balances[move.from()] -= move.amount();
        balances[move.to()] += move.amount();
        movesBy.merge(move.writer(), 1, Integer::sum);
        if (balances[move.from()] != move.left() || move.left() < 0) {
            wrong++;
        }
    }

    int accounts() {
        return balances.length;
    }

    long balance(int account) {
        return balances[account];
    }

    long total() {
        return LongStream.of(balances).sum();
    }

    /** The highest fencing token so far. */
    long token() {
        return token;
    }

    /** How many moves of that writer count. */
    int movesBy(String writer) {
        return movesBy.getOrDefault(writer, 0);
    }

    /** How many moves count. */
    int moves() {
        return movesBy.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Moves that came after another had the lock, and do not count. */
    int late() {
        return late;
    }

    /** Moves whose writer did not know those before: an update was nearly lost. There must be none. */
    int wrong() {
        return wrong;
    }
}
