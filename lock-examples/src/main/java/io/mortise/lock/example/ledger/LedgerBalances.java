// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * Computes the balances of the accounts from the ledger's entries. All readers of the same entries get the same result. Not
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

    /** Returns the number of accounts. */
    int accounts() {
        return balances.length;
    }

    /** Returns the balance of one account. */
    long balance(int account) {
        return balances[account];
    }

    /** Returns the sum of all balances. */
    long total() {
        return LongStream.of(balances).sum();
    }

    /** Returns the highest fencing token so far. */
    long token() {
        return token;
    }

    /** Returns the number of accepted moves by a writer. */
    int movesBy(String writer) {
        return movesBy.getOrDefault(writer, 0);
    }

    /** Returns the number of accepted moves. */
    int moves() {
        return movesBy.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns the number of ignored moves, which were written after another writer had got the lock. */
    int late() {
        return late;
    }

    /** Returns the number of accepted moves whose writer did not know all earlier moves, and so lost an update; must be 0. */
    int wrong() {
        return wrong;
    }
}
