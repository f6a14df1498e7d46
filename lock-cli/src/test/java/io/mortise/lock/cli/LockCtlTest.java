// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockCtlTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return LockCtl.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    @Test
    void helpAndVersionGoToStandardOutput() {
        assertThat(run("--help")).isZero();
        assertThat(run("list", "--help")).isZero();
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).contains("Usage: lockctl", "Usage: lockctl list", "lockctl ", "--json");
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            list --url nosuch:x    | no provider for scheme "nosuch"
            list --url nonsense    | "nonsense" is not a lock URL
            list --nosuch          | try 'lockctl list --help'
            nosuch                 | try 'lockctl --help'
            run                    | Missing required parameter
            run x                  | Missing required parameter
            run x true             | put -- between the lock name and the command
            run x y -- true        | put -- between the lock name and the command
            run -n -w 5s x -- true | mutually exclusive
            run -w soon x -- true  | a duration with its unit, such as 5s
            run -w 1x x -- true    | a duration with its unit, such as 5s
            run -E 256 x -- true   | is 256, must be a whole number from 0 to 255
            run --on-loss=x y -- z | expected one of
            --url= list            | option '--url' is empty; try
            list -u=               | option '--url' is empty; try
            run --lease= x -- true | option '--lease' is empty; try
            run -w= x -- true      | option '--wait' is empty; try
            run --on-loss= x -- y  | option '--on-loss' is empty; try
            release x --owner=     | option '--owner' is empty; try
            hold                   | Missing required parameter
            hold --lease 5h -u x:y z | leaseDuration is PT5H
            hold gr\uFFFDe         | "gr\uFFFDe" contains U+FFFD
            """)
    void anInvalidCommandLineIsReportedInOneLineWithExitCode64(String line, String message) {
        assertThat(run(line.split(" "))).isEqualTo(64);
        assertThat(err.toString()).startsWith("lockctl: ").contains(message);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--ulr=redis://:secret word@host", "redis://:secret word@host"})
    void S19_aMistypedOptionIsReportedWithoutThePasswordOfItsUrl(String argument) {
        assertThat(run("list", "-v", "x", argument)).isEqualTo(64);
        assertThat(err.toString()).contains("redis://***; try").doesNotContain("secret", "word@");
    }

    @Test
    void aMissingCommandHasExitCode64() {
        assertThat(run()).isEqualTo(64);
        assertThat(err.toString()).contains("no command given");
    }

    @Test
    void anUnreachableServerIsReportedWithARemedyAndExitCode69() {
        assertThat(run("list", "--url", "file-test:/no/such/folder")).isEqualTo(69);
        assertThat(err.toString()).contains("/no/such/folder", "check that the server is running");
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void anErrorHasExitCode70() {
        PrintWriter fails = new PrintWriter(out) {
            @Override
            public void flush() {
                throw new StackOverflowError("too deep");
            }
        };
        assertThat(LockCtl.run(fails, new PrintWriter(err), "--help")).isEqualTo(70);
        assertThat(err.toString()).startsWith("lockctl: internal error: java.lang.StackOverflowError: too deep");
    }

    @Test
    void verbosePrintsTheStackTrace() {
        assertThat(run("list", "-v", "--url", "file-test:/no/such/folder")).isEqualTo(69);
        assertThat(err.toString()).contains("\tat io.mortise.lock");
    }
}
