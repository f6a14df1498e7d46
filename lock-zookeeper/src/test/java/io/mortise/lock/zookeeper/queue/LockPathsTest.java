// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockName;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the mapping from lock names to nodes and back.
 *
 * <p>Rule S13.
 */
public class LockPathsTest {
    public static final List<String> ODD_NAMES = List.of(
            ".",
            "..",
            "...",
            ".a",
            "zookeeper",
            "zookeeperx",
            "/",
            "//",
            "a/b",
            "/a",
            "a/",
            "a//b",
            "%",
            "%2F",
            "%2E",
            "%2e",
            "a%2Fb",
            "%7Aookeeper",
            " ",
            "a b",
            "\t",
            "\n",
            "\u0000",
            "\u0001",
            "\u007f",
            "\u0085",
            "ä",
            "a\u0308",
            "日本",
            "😀",
            "\ufffe",
            "A",
            "a",
            "-x-lock-0000000001",
            "lock-0000000001",
            "é".repeat(256),
            "x".repeat(512),
            "/".repeat(512));

    private final LockPaths paths = new LockPaths("/locks");

    @ParameterizedTest
    @CsvSource({
        "plain,          plain",
        "a-b_c.d:e@f+g~, a-b_c.d:e@f+g~",
        "inventory/42,   inventory%2F42",
        "100%,           100%25",
        ".,              %2E",
        "..,             %2E.",
        "...,            ...",
        "zookeeper,      %7Aookeeper",
        "Zookeeper,      Zookeeper",
        "ä,              %C3%A4",
    })
    void S13_nodesAreNamedAsDocumented(String name, String node) {
        assertThat(LockPaths.nodeName(new LockName(name))).isEqualTo(node);
        assertThat(paths.lockNode(new LockName(name))).isEqualTo("/locks/" + node);
    }

    @Test
    void S13_nodesAreDistinctAndLegalAndMapBackToTheirNames() {
        Set<String> names = new HashSet<>(ODD_NAMES);
        Random random = new Random(11);
        String alphabet = "./%2EeFzä \u0000";
        while (names.size() < 5000) {
            StringBuilder name = new StringBuilder();
            for (int length = 1 + random.nextInt(6); length > 0; length--) {
                name.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            names.add(name.toString());
        }
        Set<String> nodes = new HashSet<>();
        for (String name : names) {
            String node = LockPaths.nodeName(new LockName(name));
            assertThat(nodes.add(node)).as(name).isTrue();
            assertThat(LockPaths.lockName(node)).contains(name);
            PathUtils.validatePath(paths.lockNode(new LockName(name)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "%", "%2", "%zz", "%2f", "%61", "%FF", "zookeeper", "ä", ".."})
    void nodesThatBelongToNoLockNameAreIgnored(String node) {
        assertThat(LockPaths.lockName(node)).isEmpty();
    }

    @Test
    void baseNodesAreListedTopDown() {
        assertThat(new LockPaths("/a/b/c").baseNodes()).containsExactly("/a", "/a/b", "/a/b/c");
        assertThat(new LockPaths("/").baseNodes()).isEmpty();
        assertThat(new LockPaths("/").lockNode(new LockName("x"))).isEqualTo("/x");
    }
}
