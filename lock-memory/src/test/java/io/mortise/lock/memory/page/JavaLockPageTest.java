// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.connect.Locks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/using-java-lock.md} shows code of this package, and that the code works. */
class JavaLockPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);

    @Test
    void thePageShowsTheCodeOfThisPackage() throws IOException {
        Path folder = Path.of("src/test/java", getClass().getPackageName().replace('.', '/'));
        String code = Files.readString(folder.resolve("Stock.java"));
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/using-java-lock.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks)
                .singleElement()
                .satisfies(block -> assertThat(withoutSpace(code)).contains(withoutSpace(block)));
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void theCodeWorks() {
        try (LockClient locks = Locks.connect("memory:" + UUID.randomUUID())) {
            Stock stock = new Stock(locks);
            List<Long> tokens = new ArrayList<>();
            StockTable nested = (count, token) -> tokens.add(token);
            stock.take((count, token) -> stock.take(nested, count), 1);
            stock.take(nested, 1);
            assertThat(tokens).hasSize(2).isSorted().doesNotHaveDuplicates();
            StockTable removing = (count, token) -> {
                LockHolder holder =
                        locks.named("stock").status().join().holders().get(0);
                assertThat(locks.admin()
                                .orElseThrow()
                                .forceRelease("stock", holder)
                                .join())
                        .isTrue();
            };
            assertThatThrownBy(() -> stock.take(removing, 1)).isInstanceOf(LeaseLostException.class);
            stock.take(nested, 1);
            assertThat(tokens).hasSize(3).isSorted();
        }
    }
}
