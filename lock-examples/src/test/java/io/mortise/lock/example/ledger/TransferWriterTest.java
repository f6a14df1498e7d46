// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a writer when the lock store is unavailable, or when the ledger was written with another store. */
class TransferWriterTest {
    private static final Duration OUTAGE = Duration.ofMillis(300);

    @TempDir
    Path dir = Path.of("");

    private final MemoryStore store = MemoryStore.create();
    private final LockClient locks =
            MemoryLocks.connect(store, ClientOptions.defaults().unavailableAfter(OUTAGE), store.faults());
    private AppendOnlyLedgerFile ledger;
    private TransferWriter writer;

    @BeforeEach
    void open() throws IOException {
        AppendOnlyLedgerFile.createIfMissing(dir.resolve("ledger"), new LedgerEntry.Start(2, 100));
        ledger = AppendOnlyLedgerFile.open(dir.resolve("ledger"));
        writer = new TransferWriter("w1", ledger, locks, "ledger");
    }

    @AfterEach
    void close() throws IOException {
        store.faults().heal();
        locks.close();
        ledger.close();
    }

    private LedgerBalances read() throws IOException {
        LedgerBalances balances = new LedgerBalances();
        try (AppendOnlyLedgerFile file = AppendOnlyLedgerFile.open(dir.resolve("ledger"))) {
            file.readNew(balances);
        }
        return balances;
    }

    @Test
    void continuesAfterAnOutage() throws Exception {
        store.faults().refuse(OUTAGE.plusMillis(100));
        writer.run(2);
        assertThat(read().movesBy("w1")).isEqualTo(2);
    }

    @Test
    void failsIfTheStoreStaysUnavailable() throws Exception {
        store.faults().refuse();
        assertThatThrownBy(() -> writer.run(1)).isInstanceOf(BackendUnavailableException.class);
        assertThat(read().moves()).isZero();
    }

    /** This happens if a user tries several lock stores with the same file. */
    @Test
    void rejectsALedgerWithTokensOfAnotherStore() throws Exception {
        ledger.append(new LedgerEntry.Fence(Long.MAX_VALUE));
        assertThatThrownBy(() -> writer.run(1)).hasMessageContaining("another store");
        assertThat(read().moves()).isZero();
    }
}
