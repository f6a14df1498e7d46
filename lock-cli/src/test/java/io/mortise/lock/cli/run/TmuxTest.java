// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.testkit.process.Await;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests interactive programs under {@code lockctl run} in a real terminal, which tmux provides. */
@Tag("once")
@EnabledOnOs({OS.LINUX, OS.MAC})
class TmuxTest {
    /** A program that behaves like an editor: it uses the whole screen, and gets each key as it is typed. */
    private static final String EDITOR = """
            state=$(stty -g)
            printf '\\033[?1049h\\033[H'; stty raw -echo
            printf 'edi''tor'
            key=$(dd bs=1 count=1 2>/dev/null)
            stty "$state"; printf '\\033[?1049l'
            echo "key=$key"
            """;

    /** A program that behaves like sudo: it reads from the terminal, whatever its input is, without echo. */
    private static final String PASSWORD = """
            stty -echo </dev/tty; printf 'Pass''word: ' >/dev/tty
            read word </dev/tty
            stty echo </dev/tty; echo; echo "length=${#word}"; cat
            """;

    @TempDir
    Path dir = Path.of("");

    private String socket = "";

    @BeforeEach
    void openTerminal() throws Exception {
        assumeTrue(
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "tmux"))),
                "tmux is not installed");
        socket = dir.resolve("socket").toString();
        Files.createDirectory(dir.resolve("store"));
        Files.writeString(dir.resolve("program"), EDITOR);
        Files.writeString(dir.resolve("password"), PASSWORD);
        List<String> shell = new ArrayList<>(List.of("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40"));
        LockctlProcess.forShells().forEach((name, value) -> shell.addAll(List.of("-e", name + "=" + value)));
        shell.addAll(List.of("-e", "RUN=run -u file-test:" + dir.resolve("store") + " x --", "-c", dir.toString()));
        shell.add("bash --norc --noprofile -i");
        tmux(shell.toArray(String[]::new));
        type("PS1='$ '; clear", "Enter");
    }

    @AfterEach
    void closeTerminal() throws Exception {
        if (!socket.isEmpty()) {
            tmux("kill-server");
        }
    }

    private String tmux(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("tmux", "-S", socket));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    /** @param keys text, or names of keys such as Enter or C-z */
    private void type(String... keys) throws Exception {
        for (String key : keys) {
            tmux("send-keys", key);
        }
    }

    private void awaitScreen(String text) throws Exception {
        boolean found = Await.holdsWithin(LockctlProcess.TIMEOUT, () -> screen().contains(text));
        assertThat(found).as("\"%s\" on the screen: %s", text, screen()).isTrue();
    }

    private String screen() throws Exception {
        return tmux("capture-pane", "-p");
    }

    /** Waits until {@code cat} echoes a line: then it has the terminal, and not the shell, which would ignore a stop key. */
    private void awaitCat(String line) throws Exception {
        type(line, "Enter");
        awaitScreen(line + "\n" + line);
    }

    @Test
    void anEditorGetsTheScreenAndTheKeys() throws Exception {
        type("echo bef''ore; $LOCKCTL $RUN sh program; echo co''de=$?", "Enter");
        awaitScreen("editor");
        assertThat(screen()).doesNotContain("before");
        type("q");
        awaitScreen("code=0");
        assertThat(screen()).contains("before", "key=q").doesNotContain("editor\n");
    }

    @Test
    void aPasswordPromptInAPipeReadsFromTheTerminal() throws Exception {
        type("echo da''ta | $LOCKCTL $RUN sh password | cat; echo co''de=${PIPESTATUS[1]}", "Enter");
        awaitScreen("Password:");
        type("secret", "Enter");
        awaitScreen("code=0");
        assertThat(screen()).contains("length=6", "data").doesNotContain("secret");
    }

    @Test
    void aNestedShellHasItsOwnJobsAndCanBeSuspended() throws Exception {
        type("$LOCKCTL $RUN bash --norc --noprofile -i", "Enter");
        awaitScreen("bash-");
        type("echo lock=$LOCK_NAME; cat", "Enter");
        awaitScreen("lock=x");
        awaitCat("first");
        type("C-z");
        awaitScreen("Stopped                 cat");
        type("fg", "Enter");
        awaitScreen("fg\ncat");
        awaitCat("second");
        type("C-c");
        awaitScreen("^C");
        type("echo in''ner=$?", "Enter");
        awaitScreen("inner=130");

        type("suspend", "Enter");
        awaitScreen("Stopped                 $LOCKCTL");
        type("echo out''er", "Enter");
        awaitScreen("outer");
        type("fg", "Enter", "echo aw''ake", "Enter");
        awaitScreen("awake");
        type("exit 4", "Enter", "echo co''de=$?", "Enter");
        awaitScreen("code=4");
    }
}
