// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExamplesMainTest {
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return ExamplesMain.run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"inventory", "ledger"})
    void missingUrlIsAnErrorThatListsTheForms(String example) {
        assertThat(run(example)).isEqualTo(64);
        assertThat(err.toString()).contains("--url", "redis://", "zookeeper://", "etcd://", "redlock://");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inventory", "ledger"})
    void memoryUrlIsRejected(String example) {
        assertThat(run(example, "--url", "memory:x")).isEqualTo(64);
        assertThat(err.toString()).contains("a single process");
    }

    @Test
    void missingCommandIsAnErrorThatListsTheCommands() {
        assertThat(run()).isEqualTo(64);
        assertThat(err.toString()).contains("inventory", "ledger");
    }

    /** The script rebuilds changed modules, so it must list every module in the jar. */
    @ParameterizedTest
    @ValueSource(strings = {"demo", "example"})
    void scriptListsItsModules(String script) throws Exception {
        assertThat(Files.readString(Path.of("../" + script)))
                .contains("made_of=\"lock-api lock-memory lock-zookeeper lock-redis lock-redlock lock-etcd lock-testkit"
                        + " lock-test-servers lock-examples\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            demo --workers 1       | is 1, must be a whole number from 2 to 64
            demo --workers 65      | is 65, must be a whole number from 2 to 64
            demo --items 0         | is 0, must be a whole number from 1 to 1000000
            demo --items 1000001   | is 1000001, must be a whole number from 1 to 1000000
            demo --items many      | is many, must be a whole number from 1 to 1000000
            demo --url memory:x    | a single process
            demo --url nosuch:x    | no provider for scheme "nosuch"
            """)
    void invalidDemoOptionsExitWith64AndOneLineOfError(String line, String message) {
        assertThat(run(line.split(" "))).isEqualTo(64);
        assertThat(err.toString().lines()).singleElement().asString().contains(message);
    }

    @Test
    void unknownSchemeIsAUsageError() {
        assertThat(run("inventory", "--url", "redsi://localhost")).isEqualTo(64);
        assertThat(err.toString()).contains("redsi");
    }

    @Test
    void helpShowsTheUsage() {
        StringWriter out = new StringWriter();
        assertThat(ExamplesMain.run(new PrintWriter(out, true), new PrintWriter(err, true), "inventory", "--help"))
                .isZero();
        assertThat(out.toString()).contains("./example inventory --url", "--port", "--help");
    }
}
