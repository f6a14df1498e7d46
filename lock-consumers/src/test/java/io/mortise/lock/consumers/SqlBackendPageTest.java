// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that all code in {@code docs/sql-backend.md} is that of the archetype, which {@link BackendProjectsTest} runs. */
@Tag("once")
class SqlBackendPageTest {
    private static final Path ROOT = Path.of(System.getProperty("mortise.root"));
    private static final Path ARCHETYPE = ROOT.resolve("lock-backend-archetype/src/main/resources/archetype-resources");
    private static final Pattern BLOCK = Pattern.compile("```(java|xml)\n(.*?)\n```", Pattern.DOTALL);

    @Test
    void allCodeOfThePageIsInTheArchetype() throws IOException {
        String code;
        try (Stream<Path> files = Files.walk(ARCHETYPE)) {
            code = files.filter(Files::isRegularFile)
                    .map(SqlBackendPageTest::read)
                    .map(SqlBackendPageTest::withoutIndentation)
                    .collect(Collectors.joining("\n"));
        }
        List<String> blocks = BLOCK.matcher(read(ROOT.resolve("docs/sql-backend.md")))
                .results()
                .map(block -> withoutIndentation(block.group(2)))
                .toList();
        assertThat(blocks).hasSizeGreaterThan(10);
        assertThat(blocks)
                .as("code that is not in the archetype")
                .filteredOn(block -> !code.contains(block))
                .isEmpty();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the text without indentation, with the values that the page's command gives to the archetype. */
    private static String withoutIndentation(String text) {
        return text.lines()
                .map(String::strip)
                .collect(Collectors.joining("\n"))
                .replace("${groupId}", "com.example")
                .replace("${artifactId}", "my-lock")
                .replace("${version}", "1.0-SNAPSHOT")
                .replace("${mortiseVersion}", ConsumerBuild.VERSION);
    }
}
