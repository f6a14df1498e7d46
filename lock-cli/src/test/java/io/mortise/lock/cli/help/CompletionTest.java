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

/** In a real shell, which is asked what it would offer. */
@Tag("once")
class CompletionTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** What the tab key does in bash: finds the function by {@code complete -p}, calls it with the words; compopt works only there. */
    private static final String TAB = """
            set -u
            . "$1"
            compopt() { :; }
            offers() {
                COMP_WORDS=("$@")
                COMP_CWORD=$(($# - 1))
                COMP_LINE="$*"
                COMP_POINT=${#COMP_LINE}
                COMPREPLY=()
                local by
                by=$(complete -p lockctl) && by=${by#*-F } && ${by%% *} lockctl "${!#}" "${@: -2:1}"
                echo "${COMPREPLY[@]}"
            }
            offers lockctl wh
            offers lockctl completion z
            offers lockctl who --js
            offers lockctl who --url redis-
            offers lockctl release --t
            offers lockctl run --on-loss k
            """;

    /** The tab key itself, at a terminal; what zsh makes of it is then run. */
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
        assertThat(in("bash", "", TAB))
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
                .as("zsh is there")
                .anyMatch(zsh -> Files.isExecutable(Path.of(zsh)));
        assertThat(in("zsh", "-f", TAB_IN_ZSH)).containsExactly("said: who --json");
    }

    private List<String> in(String shell, String option, String script) throws IOException, InterruptedException {
        Path completion = Files.writeString(
                dir.resolve("completion"),
                CommandLineRun.of("completion", shell).out());
        Path run = Files.writeString(dir.resolve("run"), script);
        Path said = dir.resolve("said");
        List<String> command = option.isEmpty()
                ? List.of(shell, run.toString(), completion.toString())
                : List.of(shell, option, run.toString(), completion.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            boolean ended = process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS);
            assertThat(ended).as("ended; it said: " + Files.readString(said)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(said)).isZero();
        return Files.readAllLines(said);
    }
}
