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

/** Tests which moves are accepted in a ledger with several writers. */
class LedgerBalancesTest {
    @TempDir
    Path dir = Path.of("");

    private final LedgerBalances balances = new LedgerBalances();
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
        one.readNew(balances);
        return balances;
    }

    @Test
    void movesChangeTheBalances() throws Exception {
        one.append(new LedgerEntry.Fence(5));
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        two.append(new LedgerEntry.Fence(8));
        two.append(new LedgerEntry.Move(8, "w2", 1, 0, 130, 0));
        assertThat(read().balance(0)).isEqualTo(200);
        assertThat(balances.balance(1)).isZero();
        assertThat(balances.total()).isEqualTo(200);
        assertThat(balances.token()).isEqualTo(8);
        assertThat(balances.movesBy("w1")).isEqualTo(1);
        assertThat(balances.wrong()).isZero();
    }

    @Test
    void lateMovesAreIgnored() throws Exception {
        one.append(new LedgerEntry.Fence(5));
        two.append(new LedgerEntry.Fence(6));
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        one.append(new LedgerEntry.Fence(5)); // a late fence does not replace a higher one
        two.append(new LedgerEntry.Move(6, "w2", 0, 1, 10, 90));
        assertThat(read().balance(0)).isEqualTo(90);
        assertThat(balances.movesBy("w1")).isZero();
        assertThat(balances.late()).isEqualTo(1);
        assertThat(balances.wrong()).isZero();
    }

    @Test
    void moveWithoutKnowledgeOfThePreviousOneIsDetected() throws Exception {
        one.append(new LedgerEntry.Move(5, "w1", 0, 1, 30, 70));
        two.append(new LedgerEntry.Move(5, "w2", 0, 1, 10, 90));
        assertThat(read().wrong()).isEqualTo(1);
        two.append(new LedgerEntry.Move(5, "w2", 0, 1, 100, -40));
        assertThat(read().wrong()).as("overdrawn").isEqualTo(2);
    }

    @Test
    void incompleteLineIsIgnoredAndDoesNotAffectOthers() throws Exception {
        Files.writeString(path, "move 5 w1 0 1 30", StandardOpenOption.APPEND);
        assertThat(read().movesBy("w1")).isZero();
        assertThat(one.incompleteLines())
                .as("the rest of the line may still follow")
                .isZero();
        two.append(new LedgerEntry.Move(6, "w2", 0, 1, 10, 90));
        assertThat(read().movesBy("w2")).isEqualTo(1);
        assertThat(one.incompleteLines()).isEqualTo(1);
        assertThat(Files.readAllLines(path)).hasSize(3);
    }

    @Test
    void lineIsReadOnceItIsComplete() throws Exception {
        String line = new LedgerEntry.Move(6, "w2", 0, 1, 10, 90).line();
        Files.writeString(path, line.substring(0, 9), StandardOpenOption.APPEND);
        assertThat(read().movesBy("w2")).isZero();
        Files.writeString(path, line.substring(9) + "\n", StandardOpenOption.APPEND);
        assertThat(read().movesBy("w2")).isEqualTo(1);
        assertThat(one.incompleteLines()).isZero();
    }
}
