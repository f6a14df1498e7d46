// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What counts in a ledger that several write to. */
class LedgerBalancesTest {
    @TempDir
    Path dir = Path.of("");

    private final LedgerBalances books = new LedgerBalances();
    private Path path = Path.of("");
    private AppendOnlyLedgerFile one;
    private AppendOnlyLedgerFile two;

    @BeforeEach
    void open() throws IOException {
        path = dir.resolve("ledger");
        AppendOnlyLedgerFile.createIfMissing(path, new LedgerEntry.Start(2, 100));
        one = AppendOnlyLedgerFile.open(path);
        two = AppendOnlyLedgerFile.open(path);
    }

    @AfterEach
    void close() throws IOException {
        one.close();
        two.close();
    }

    private LedgerBalances read() throws IOException {
        one.readNew(books);
        return books;
    }

    @Test
    void movesAreBooked() throws Exception {
        one.append(new LedgerEntry.Fence(5));
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        two.append(new LedgerEntry.Fence(8));
        two.append(new LedgerEntry.Move(8, "w2", 1, 0, 130, 0));
        assertThat(read().balance(0)).isEqualTo(200);
        assertThat(books.balance(1)).isZero();
        assertThat(books.total()).isEqualTo(200);
        assertThat(books.token()).isEqualTo(8);
        assertThat(books.movesBy("w1")).isEqualTo(1);
        assertThat(books.wrong()).isZero();
    }

    @Test
    void whoComesLateDoesNotCount() throws Exception {
        one.append(new LedgerEntry.Fence(5));
        two.append(new LedgerEntry.Fence(6));
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        one.append(new LedgerEntry.Fence(5)); // nor does a fence that comes late undo a higher one
        two.append(new LedgerEntry.Move(6, "w2", 0, 1, 10, 90));
        assertThat(read().balance(0)).isEqualTo(90);
        assertThat(books.movesBy("w1")).isZero();
        assertThat(books.late()).isEqualTo(1);
        assertThat(books.wrong()).isZero();
    }

    @Test
    void whoDidNotKnowOfTheMoveBeforeIsNoticed() throws Exception {
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        two.append(new LedgerEntry.Move(5, "w2", 0, 1, 10, 90));
        assertThat(read().wrong()).isEqualTo(1);
        two.append(new LedgerEntry.Move(5, "w2", 0, 1, 100, -40));
        assertThat(read().wrong()).as("overdrawn").isEqualTo(2);
    }

    @Test
    void halfALineIsNoEntryAndSpoilsNoOther() throws Exception {
        Files.writeString(path, "move 5 w1 0 1 30", StandardOpenOption.APPEND);
        assertThat(read().movesBy("w1")).isZero();
        assertThat(one.torn()).as("it may be under way").isZero();
        two.append(new LedgerEntry.Move(6, "w2", 0, 1, 10, 90));
        assertThat(read().movesBy("w2")).isEqualTo(1);
        assertThat(one.torn()).isEqualTo(1);
        assertThat(Files.readAllLines(path)).hasSize(3);
    }

    @Test
    void aLineIsReadOnceItIsWhole() throws Exception {
        String line = new LedgerEntry.Move(6, "w2", 0, 1, 10, 90).line();
        Files.writeString(path, line.substring(0, 9), StandardOpenOption.APPEND);
        assertThat(read().movesBy("w2")).isZero();
        Files.writeString(path, line.substring(9) + "\n", StandardOpenOption.APPEND);
        assertThat(read().movesBy("w2")).isEqualTo(1);
        assertThat(one.torn()).isZero();
    }
}
