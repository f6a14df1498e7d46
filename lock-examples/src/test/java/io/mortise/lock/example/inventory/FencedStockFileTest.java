// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FencedStockFileTest {
    @TempDir
    Path dir = Path.of("");

    private FencedStockFile stock = new FencedStockFile(Path.of(""));

    @BeforeEach
    void create() throws IOException {
        FencedStockFile.createIfMissing(dir.resolve("stock"), Map.of("lamp", 3, "chair", 2));
        stock = new FencedStockFile(dir.resolve("stock"));
    }

    @Test
    void rejectsATokenBelowTheHighestOfThatItem() throws Exception {
        stock.write("lamp", 2, 7);
        assertThatThrownBy(() -> stock.write("lamp", 1, 6)).isInstanceOf(StaleTokenException.class);
        stock.write("lamp", 1, 7); // several writes under one lease are allowed
        stock.write("chair", 1, 3); // tokens of different locks are independent
        assertThat(stock.left("lamp")).hasValue(1);
        assertThat(stock.left("chair")).hasValue(1);
    }

    @Test
    void writeWithoutATokenIsNeverRejectedAndKeepsTheHighest() throws Exception {
        stock.write("lamp", 2, 7);
        stock.writeUnfenced("lamp", 1);
        assertThat(stock.left("lamp")).hasValue(1);
        assertThatThrownBy(() -> stock.write("lamp", 0, 6))
                .isInstanceOfSatisfying(
                        StaleTokenException.class, e -> assertThat(e.highest()).isEqualTo(7));
    }

    @Test
    void writesAreAtomicAcrossInstances() throws Exception {
        int writers = 8;
        int writes = 40;
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        AtomicLong tokens = new AtomicLong();
        try {
            List<Callable<Boolean>> all = Collections.nCopies(writers, () -> {
                FencedStockFile own = new FencedStockFile(dir.resolve("stock")); // as in a separate process
                for (int i = 0; i < writes; i++) {
                    long token = tokens.incrementAndGet();
                    try {
                        own.write("lamp", Math.toIntExact(token), token);
                    } catch (StaleTokenException e) {
                        assertThat(e.highest()).isGreaterThan(token);
                    }
                    own.left("chair").orElseThrow(); // a partially written file would not contain it
                }
                return true;
            });
            for (Future<Boolean> each : threads.invokeAll(all)) {
                assertThat(each.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(stock.left("lamp")).hasValue(writers * writes);
    }

    @Test
    void createIfMissingKeepsAnExistingFile() throws Exception {
        stock.write("lamp", 2, 7);
        FencedStockFile.createIfMissing(dir.resolve("stock"), Map.of("lamp", 100));
        assertThat(stock.left("lamp")).hasValue(2);
        assertThat(stock.left("table")).isEmpty();
    }

    @Test
    void rejectsInvalidItems() {
        assertThatThrownBy(() -> FencedStockFile.createIfMissing(dir.resolve("new"), Map.of("a lamp", 3)))
                .hasMessageContaining("a lamp=3");
        assertThatThrownBy(() -> FencedStockFile.createIfMissing(dir.resolve("new"), Map.of("lamp", -1)))
                .hasMessageContaining("lamp=-1");
    }
}
