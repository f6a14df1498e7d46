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

/** Transfers money between random accounts, one transfer each time it holds the lock. */
final class TransferWriter {
    private static final Logger log = LoggerFactory.getLogger(TransferWriter.class);
    private static final long MOST = 50;

    /** In a row. After one that was only this process standing still, the next attempt succeeds. */
    private static final int MOST_OUTAGES = 3;

    private final String name;
    private final AppendOnlyLedgerFile file;
    private final DistributedLock lock;
    private final LedgerBalances books = new LedgerBalances();

    TransferWriter(String name, AppendOnlyLedgerFile file, LockClient locks, String lockName) {
        this.name = name;
        this.file = file;
        this.lock = locks.named(lockName);
    }

    /**
     * Goes on until so many of its moves count. The ledger alone says how many do: what was written at the moment of a loss, or
     * by an earlier process of this name, is neither done twice nor forgotten.
     */
    void run(int moves) throws IOException, InterruptedException {
        file.readNew(books);
        int outages = 0;
        while (books.movesBy(name) < moves) {
            try {
                lock.run(this::writeNext);
                outages = 0;
            } catch (LeaseLostException e) {
                log.warn("event=lost writer={} error={}", name, e.getMessage());
            } catch (BackendUnavailableException e) {
                if (++outages == MOST_OUTAGES) {
                    throw e;
                }
                log.warn("event=outage writer={} error={}", name, e.getMessage());
            }
        }
    }

    private void writeNext(Lease lease) throws IOException {
        // First the fence, then a read: what earlier holders write from now on does not count, so what is seen here
        // is final.
        file.append(new LedgerEntry.Fence(lease.fencingToken()));
        file.readNew(books);
        if (books.token() > lease.fencingToken()) {
            lease.ensureHeld(); // throws if a later holder was faster
            throw new IOException(
                    "the ledger has tokens higher than the lock's: it was written under locks of another store");
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int from = random.nextInt(books.accounts());
        int to = (from + 1 + random.nextInt(books.accounts() - 1)) % books.accounts();
        long amount = Math.min(books.balance(from), 1 + random.nextLong(MOST));
        if (amount > 0) {
            long left = books.balance(from) - amount;
            file.append(new LedgerEntry.Move(lease.fencingToken(), name, from, to, amount, left));
            file.readNew(books);
        }
    }
}
