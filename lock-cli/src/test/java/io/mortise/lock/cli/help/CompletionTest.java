// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.mortise.lock.cli.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which completions real shells offer. */
@Tag("once")
class CompletionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /**
     * Does what the tab key does in bash: finds the completion function by {@code complete -p} and calls it with the words. The
     * builtin {@code compopt} fails outside of a real completion, so it is replaced.
     */
    private static final String TAB = """
            set -u
            . "$1"
            compopt() { :; }
            complete_words() {
                COMP_WORDS=("$@")
                COMP_CWORD=$(($# - 1))
                COMP_LINE="$*"
                COMP_POINT=${#COMP_LINE}
                COMPREPLY=()
                local by
                by=$(complete -p lockctl) && by=${by#*-F } && ${by%% *} lockctl "${!#}" "${@: -2:1}"
                echo "${COMPREPLY[@]}"
            }
            complete_words lockctl wh
            complete_words lockctl completion z
            complete_words lockctl who --js
            complete_words lockctl who --url redis-
            complete_words lockctl release --t
            complete_words lockctl run --on-loss k
            """;

    /** Types the tab key at a terminal; zsh then runs the completed line. */
    private static final String TAB_IN_ZSH = """
            zmodload zsh/zpty
            zpty terminal zsh -f -i
            zpty -w terminal "PS1='rea''dy> '; autoload -Uz compinit; compinit -u -D; . $1; lockctl() { print -r -- said: \\$*; }"
            zpty -r terminal seen '*ready> *'
            zpty -w terminal $'lockctl wh\\t--js\\t'
            zpty -r terminal seen '*said: *ready> *'
            print -r -- ${${(M)${(f)seen}:#said: *}//$'\r'/}
            """;

    @TempDir
    Path dir = Path.of("");

    @Test
    void bashCompletesCommandsOptionsAndValues() throws IOException, InterruptedException {
        assertThat(runIn("bash", "", TAB))
                .containsExactly(
                        "who",
                        "zsh",
                        "--json",
                        "redis-cluster:// redis-sentinel:// redis-socket://",
                        "--token",
                        "kill");
    }

    @Test
    void zshCompletesCommandsAndOptions() throws IOException, InterruptedException {
        assumeThat(List.of("/bin/zsh", "/usr/bin/zsh"))
                .as("zsh is installed")
                .anyMatch(zsh -> Files.isExecutable(Path.of(zsh)));
        assertThat(runIn("zsh", "-f", TAB_IN_ZSH)).containsExactly("said: who --json");
    }

    private List<String> runIn(String shell, String option, String script) throws IOException, InterruptedException {
        Path completion = Files.writeString(
                dir.resolve("completion"),
                CommandLineRun.of("completion", shell).out());
        Path run = Files.writeString(dir.resolve("run"), script);
        Path output = dir.resolve("output");
        List<String> command = option.isEmpty()
                ? List.of(shell, run.toString(), completion.toString())
                : List.of(shell, option, run.toString(), completion.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThat(ended)
                    .as("ended; its output: " + Files.readString(output))
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readAllLines(output);
    }
}
