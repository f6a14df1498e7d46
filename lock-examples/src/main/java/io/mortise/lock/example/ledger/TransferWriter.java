// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes transfers between random accounts to the ledger, one transfer per acquired lock. */
final class TransferWriter {
    private static final Logger log = LoggerFactory.getLogger(TransferWriter.class);
    private static final long MAX_AMOUNT = 50;

    /** Maximum number of consecutive outages. If only this process was paused, the next attempt succeeds. */
    private static final int MAX_OUTAGES = 3;

    private final String name;
    private final AppendOnlyLedgerFile file;
    private final DistributedLock lock;
    private final LedgerBalances balances = new LedgerBalances();

    TransferWriter(String name, AppendOnlyLedgerFile file, LockClient locks, String lockName) {
        this.name = name;
        this.file = file;
        this.lock = locks.named(lockName);
    }

    /**
     * Writes transfers until the ledger contains the given number of accepted moves by this writer. Only the ledger decides
     * which moves were accepted, so a move that was written when the lock was lost, or by an earlier process of this name, is
     * neither repeated nor forgotten.
     */
    void run(int moves) throws IOException, InterruptedException {
        file.readNew(balances);
        int outages = 0;
        while (balances.movesBy(name) < moves) {
            try {
                lock.run(this::writeNext);
                outages = 0;
            } catch (LeaseLostException e) {
                log.warn("event=lost writer={} error={}", name, e.getMessage());
            } catch (BackendUnavailableException e) {
                if (++outages == MAX_OUTAGES) {
                    throw e;
                }
                log.warn("event=outage writer={} error={}", name, e.getMessage());
            }
        }
    }

    private void writeNext(Lease lease) throws IOException {
        // The fence comes before the read: readers ignore what earlier holders write after it, so the result of this
        // read
        // is final.
        file.append(new LedgerEntry.Fence(lease.fencingToken()));
        file.readNew(balances);
        if (balances.token() > lease.fencingToken()) {
            lease.ensureHeld(); // throws if a later holder has already written
            throw new IOException(
                    "the ledger was written under locks of another store, whose tokens are higher; use a new ledger file");
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int from = random.nextInt(balances.accounts());
        int to = (from + 1 + random.nextInt(balances.accounts() - 1)) % balances.accounts();
        long amount = Math.min(balances.balance(from), 1 + random.nextLong(MAX_AMOUNT));
        if (amount > 0) {
            long left = balances.balance(from) - amount;
            file.append(new LedgerEntry.Move(lease.fencingToken(), name, from, to, amount, left));
            file.readNew(balances);
        }
    }
}
