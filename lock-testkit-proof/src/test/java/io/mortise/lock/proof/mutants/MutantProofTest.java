// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the mutants that wrap a backend or a client, and the list of all mutants. */
@Tag("once")
class MutantProofTest extends MutantTrials {
    private static final Path DOC = Path.of("..", "docs", "mutants.md");
    private static final List<Mutant> ALL = Mutants.all();

    MutantProofTest() {
        super(Mutants.WRAPPERS);
    }

    @Test
    void everyRuleHasAMutant() {
        Set<String> rules = ALL.stream().map(Mutant::rule).collect(Collectors.toSet());
        assertThat(rules)
                .containsAll(IntStream.rangeClosed(1, 19)
                        .mapToObj(number -> String.format("S%02d", number))
                        .toList());
        assertThat(ALL).extracting(Mutant::toString).doesNotHaveDuplicates();
    }

    /** Each defect that a mutant quotes is planted in an exploration. */
    @Test
    void theDefectsThatExplorationsFindArePlanted() throws IOException {
        StringBuilder explorations = new StringBuilder();
        for (String module : List.of("api", "redis", "redlock", "zookeeper", "etcd")) {
            try (Stream<Path> files = Files.walk(Path.of("..", "lock-" + module, "src", "test", "java"))) {
                for (Path file : files.filter(each -> each.toString().endsWith("ExplorationTest.java"))
                        .toList()) {
                    explorations.append(Files.readString(file));
                }
            }
        }
        assertThat(ALL)
                .extracting(Mutant::explored)
                .filteredOn(explored -> !explored.isEmpty() && !explored.startsWith("no: "))
                .isNotEmpty()
                .allSatisfy(explored -> assertThat(explorations).contains(explored.substring(explored.indexOf('"'))));
    }

    /** Compares the table in docs/mutants.md with the mutants that {@link #theKitFails} tests. */
    @Test
    void theTableInTheDocsIsUpToDate() throws IOException {
        String table = ALL.stream()
                .sorted(Comparator.comparing(Mutant::rule))
                .map(mutant -> "| %s | %s | `%s` | %s |\n"
                        .formatted(mutant.rule(), mutant.defect(), mutant.killer(), mutant.explored()))
                .collect(Collectors.joining());
        String page = Files.readString(DOC);
        String head = page.substring(0, page.lastIndexOf(TABLE) + TABLE.length());
        if (Boolean.getBoolean("mortise.mutants.write")) {
            Files.writeString(DOC, head + table);
        }
        assertThat(Files.readString(DOC))
                .as("run with -Dmortise.mutants.write=true")
                .isEqualTo(head + table);
    }
}
