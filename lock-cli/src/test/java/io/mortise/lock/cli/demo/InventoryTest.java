// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InventoryTest {
    private static final int THREADS = 8;
    private static final int WRITES = 40;

    @TempDir
    Path dir = Path.of("");

    private Inventory inventory = new Inventory(Path.of("x"));

    @BeforeEach
    void create() throws IOException {
        inventory = Inventory.create(dir.resolve("inventory"), 10);
    }

    @Test
    void aLowerTokenIsRefusedAndChangesNothingButTheCount() throws IOException {
        assertThat(inventory.write(9, OptionalLong.of(7), "a").accepted()).isTrue();

        Inventory.Written late = inventory.write(3, OptionalLong.of(6), "b");

        assertThat(late.accepted()).isFalse();
        assertThat(late.stock()).isEqualTo(inventory.read()).isEqualTo(new Stock(9, 7, 1, 1, 0, 0, "a"));
    }

    @Test
    void theSameTokenIsAcceptedAgainAndNoted() throws IOException {
        inventory.write(9, OptionalLong.of(7), "a");

        assertThat(inventory.write(8, OptionalLong.of(7), "a").accepted()).isTrue();
        assertThat(inventory.read().repeated()).isEqualTo(1);
    }

    @Test
    void aWriteWithoutTokenIsNeverRefused() throws IOException {
        inventory.write(9, OptionalLong.of(7), "a");

        assertThat(inventory.write(9, OptionalLong.empty(), "b").accepted()).isTrue();
        assertThat(inventory.read()).isEqualTo(new Stock(9, 7, 2, 0, 1, 0, "b"));
    }

    @Test
    void aHandOffIsAWriteByAnotherThanTheLastWriter() throws IOException {
        String[] writers = {"a", "a", "b", "b", "a"};
        for (int i = 0; i < writers.length; i++) {
            inventory.write(9 - i, OptionalLong.of(i + 1), writers[i]);
        }

        assertThat(inventory.read().handOffs()).isEqualTo(2);
    }

    @Test
    void writesAreAtomicAndReadsAreWhole() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Integer>> writers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                String name = "t" + i;
                // An instance each, as processes have.
                Inventory mine = new Inventory(dir.resolve("inventory"));
                writers.add(() -> {
                    int accepted = 0;
                    for (int write = 0; write < WRITES; write++) {
                        long seen = mine.read().highestToken();
                        accepted +=
                                mine.write(1, OptionalLong.of(seen + 1), name).accepted() ? 1 : 0;
                    }
                    return accepted;
                });
            }
            long accepted = 0;
            for (Future<Integer> writer : threads.invokeAll(writers)) {
                accepted += writer.get();
            }

            Stock end = inventory.read();
            assertThat(end.writes()).isEqualTo(accepted);
            assertThat(end.writes() + end.refused()).isEqualTo((long) THREADS * WRITES);
            // Each accepted write raised the token by one or repeated it.
            assertThat(end.highestToken()).isEqualTo(end.writes() - end.repeated());
        } finally {
            threads.shutdownNow();
        }
    }
}
