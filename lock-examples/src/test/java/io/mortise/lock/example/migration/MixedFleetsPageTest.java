// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.migration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that all tests that {@code docs/mixed-fleets.md} names exist. */
class MixedFleetsPageTest {
    private static final Pattern CODE = Pattern.compile("`([^`\n]*)`");
    private static final Pattern TEST_CLASS = Pattern.compile("\\b[A-Z]\\w+Test\\b");
    private static final Pattern TEST = Pattern.compile("\\b(S\\d\\d_\\w+|[a-z]+[A-Z]\\w{20,})\\b");
    private static final Pattern DECLARED = Pattern.compile("void (\\w+)\\(");

    /** A test in a row belongs to the class that the row names, or otherwise to the class that the section names. */
    @Test
    void everyNamedTestExistsInItsClass() throws IOException {
        Map<String, Set<String>> tests = tests();
        String inSection = "";
        int named = 0;
        for (String line : Files.readAllLines(Path.of("../docs/mixed-fleets.md"))) {
            List<String> code =
                    CODE.matcher(line).results().map(found -> found.group(1)).toList();
            for (String text : code) {
                Optional<String> own = TEST_CLASS
                        .matcher(text)
                        .results()
                        .map(MatchResult::group)
                        .findFirst();
                if (own.isPresent()) {
                    assertThat(tests).containsKey(own.get());
                }
                if (own.isPresent() && own.get().equals(text)) {
                    inSection = text;
                }
                for (MatchResult test : TEST.matcher(text).results().toList()) {
                    assertThat(tests.get(own.orElse(inSection))).as(line).contains(test.group());
                    named++;
                }
            }
        }
        assertThat(named).isGreaterThan(15);
    }

    private static Map<String, Set<String>> tests() throws IOException {
        Map<String, Set<String>> tests = new TreeMap<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path module : modules.filter(path -> Files.isDirectory(path.resolve("src/test/java")))
                    .toList()) {
                try (Stream<Path> files = Files.walk(module.resolve("src/test/java"))) {
                    for (Path file : files.filter(path -> path.toString().endsWith("Test.java"))
                            .toList()) {
                        tests.put(
                                file.getFileName().toString().replace(".java", ""),
                                DECLARED.matcher(Files.readString(file))
                                        .results()
                                        .map(found -> found.group(1))
                                        .collect(Collectors.toCollection(TreeSet::new)));
                    }
                }
            }
        }
        return tests;
    }
}
