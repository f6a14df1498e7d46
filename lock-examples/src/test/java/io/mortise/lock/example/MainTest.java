// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"inventory", "ledger"})
    void withoutAUrlItSaysWhichOnesItTakes(String example) {
        assertThat(run(example)).isEqualTo(64);
        assertThat(err.toString()).contains("--url", "redis://", "zookeeper://", "etcd://", "redlock://");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inventory", "ledger"})
    void refusesLocksThatOneProcessAloneWouldSee(String example) {
        assertThat(run(example, "--url", "memory:x")).isEqualTo(64);
        assertThat(err.toString()).contains("one process alone");
    }

    @Test
    void asksWhichOne() {
        assertThat(run()).isEqualTo(64);
        assertThat(err.toString()).contains("inventory", "ledger");
    }

    /** The script builds again what has changed: it must name every module that is in the jar. */
    @Test
    void theScriptNamesWhatItIsMadeOf() throws Exception {
        assertThat(Files.readString(Path.of("../example")))
                .contains(
                        "made_of=\"lock-api lock-memory lock-zookeeper lock-redis lock-redlock lock-etcd lock-examples\"");
    }

    @Test
    void anUnknownSchemeIsAMistakeOfTheCaller() {
        assertThat(run("inventory", "--url", "redsi://localhost")).isEqualTo(64);
        assertThat(err.toString()).contains("redsi");
    }

    @Test
    void eachTellsHowItIsUsed() {
        StringWriter out = new StringWriter();
        assertThat(Main.run(new PrintWriter(out, true), new PrintWriter(err, true), "inventory", "--help"))
                .isZero();
        assertThat(out.toString()).contains("./example inventory --url", "--port", "--help");
    }
}
