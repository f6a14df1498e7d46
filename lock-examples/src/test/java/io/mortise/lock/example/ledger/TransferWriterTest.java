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

/** What a writer makes of a store that does not answer, or that is another one. */
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
        LedgerBalances books = new LedgerBalances();
        try (AppendOnlyLedgerFile anew = AppendOnlyLedgerFile.open(dir.resolve("ledger"))) {
            anew.readNew(books);
        }
        return books;
    }

    @Test
    void itGoesOnAfterAnOutage() throws Exception {
        store.faults().refuse(OUTAGE.plusMillis(100));
        writer.run(2);
        assertThat(read().movesBy("w1")).isEqualTo(2);
    }

    @Test
    void itEndsWhenTheStoreStaysAway() throws Exception {
        store.faults().refuse();
        assertThatThrownBy(() -> writer.run(1)).isInstanceOf(BackendUnavailableException.class);
        assertThat(read().moves()).isZero();
    }

    /** Who tries one store after the other with the same file. */
    @Test
    void itRefusesALedgerWithTokensOfAnotherStore() throws Exception {
        ledger.append(new LedgerEntry.Fence(Long.MAX_VALUE));
        assertThatThrownBy(() -> writer.run(1)).hasMessageContaining("another store");
        assertThat(read().moves()).isZero();
    }
}
