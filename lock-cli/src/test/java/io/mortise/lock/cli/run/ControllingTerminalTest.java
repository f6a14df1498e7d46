// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code lockctl run} at the prompt of an interactive shell, in a terminal that the program {@code script} provides. */
@Tag("once")
@Tag("long")
@EnabledOnOs(value = OS.LINUX, disabledReason = "script has other options elsewhere")
class ControllingTerminalTest {
    private static final String CTRL_C = "\u0003";
    private static final String CTRL_Z = "\u001a";

    @TempDir
    Path dir = Path.of("");

    private String url = "";
    private Process terminal;
    private OutputStream keyboard;
    private Path screen = Path.of("");

    @BeforeEach
    void openTerminal() throws IOException {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
        screen = dir.resolve("screen");
        ProcessBuilder builder = new ProcessBuilder(LockctlProcess.withDefaultSignals(
                        List.of("script", "-qec", "bash --norc --noprofile -i", "/dev/null")))
                .directory(dir.toFile())
                .redirectErrorStream(true)
                .redirectOutput(screen.toFile());
        builder.environment().putAll(LockctlProcess.forShells());
        builder.environment().put("RUN", "run -u " + url);
        builder.environment().put("TERM", "dumb");
        terminal = builder.start();
        keyboard = terminal.getOutputStream();
    }

    @AfterEach
    void closeTerminal() throws Exception {
        try {
            type("\nexit\nexit\n"); // a shell with stopped jobs needs it twice
            keyboard.close();
        } finally {
            if (!terminal.waitFor(5, TimeUnit.SECONDS)) {
                terminal.destroyForcibly();
            }
        }
    }

    private void type(String keys) throws IOException {
        keyboard.write(keys.getBytes(StandardCharsets.UTF_8));
        keyboard.flush();
    }

    /**
     * Waits for text on the screen. As the terminal echoes what is typed, such text must be typed in another form, with a pair
     * of quotes inside.
     */
    private void awaitScreen(String text) {
        boolean found = Await.holdsWithin(LockctlProcess.TIMEOUT, () -> screen().contains(text));
        if (!found) {
            throw new AssertionError("no \"" + text + "\" on the screen: " + screen());
        }
    }

    private String screen() {
        return LockctlProcess.read(screen);
    }

    @Test
    void theCommandReadsFromTheTerminalAndGetsCtrlCOnce() throws Exception {
        type(
                "$LOCKCTL $RUN x -- sh -c 'trap \"echo inter\"\"rupted\" INT; echo rea\"\"dy; until [ -e go ]; do sleep 0.1; done;"
                        + " read line; echo got \"<$line>\"; exit 4'; echo co\"\"de=$?\n");
        awaitScreen("ready");
        type(CTRL_C);
        awaitScreen("interrupted");
        type("hello\n");
        Files.createFile(dir.resolve("go"));

        awaitScreen("code=4");
        assertThat(screen()).containsOnlyOnce("interrupted").contains("got <hello>");
    }

    /** Uses bash: dash starts programs by vfork, and hangs if Ctrl-Z arrives before the exec, even without lockctl. */
    @Test
    void ctrlZStopsTheCommand_fgContinuesIt_andCtrlCEndsIt() throws Exception {
        type("$LOCKCTL $RUN x -- bash -c 'echo pids $$ he\"\"re; while :; do sleep 0.1; echo tick >> ticks; done'\n");
        awaitScreen("here");
        long pid = RunCommandTest.pids(screen()).get(0);
        type(CTRL_Z);
        awaitScreen("Stopped");
        assertThat(LockctlProcess.read(Path.of("/proc/" + pid + "/stat"))).contains(") T ");

        type("fg\n");
        Files.deleteIfExists(dir.resolve("ticks"));
        Await.until("the command continues", LockctlProcess.TIMEOUT, () -> Files.exists(dir.resolve("ticks")));
        type(CTRL_C);
        type("echo co\"\"de=$?\n");
        awaitScreen("code=130");
        assertThat(LockctlProcess.isRunning(pid)).isFalse();
    }

    @Test
    void aCommandStoppedForLongerThanTheLeaseIsKilled() throws Exception {
        type("$LOCKCTL $RUN --lease 6s x -- bash -c 'echo pids $$ he\"\"re; while :; do sleep 0.1; done'\n");
        awaitScreen("here");
        long pid = RunCommandTest.pids(screen()).get(0);
        type(CTRL_Z);
        awaitScreen("Stopped");
        try (LockClient client = Locks.connect(url);
                Lease next = client.named("x").acquire()) {
            // UnattendedCommandTest checks that the kill is in time.
            Await.until("the command has ended", LockctlProcess.TIMEOUT, () -> !LockctlProcess.isRunning(pid));
            assertThat(next.isHeld()).isTrue();
        }
        type("fg; echo co\"\"de=$?\n");
        awaitScreen("code=75");
    }

    @Test
    void ctrlCEndsAnEnclosingLoop() throws Exception {
        Path script = Files.writeString(
                dir.resolve("loop"),
                "for i in 1 2 3; do $LOCKCTL $RUN x -- sh -c 'echo round $LOCK_FENCING_TOKEN; exec sleep 100'; done\n");
        type("bash " + script + "\n");
        awaitScreen("round 1");
        type(CTRL_C);
        type("echo co\"\"de=$?\n"); // at the next prompt, as the shell drops the rest of an interrupted line

        awaitScreen("code=130");
        assertThat(screen()).doesNotContain("round 2");
    }

    @Test
    void exitCode130WithoutCtrlCDoesNotEndAnEnclosingLoop() throws Exception {
        Path script = Files.writeString(
                dir.resolve("loop"), "for i in 1 2; do $LOCKCTL $RUN x -- sh -c 'exit 130'; echo round $i; done\n");
        type("bash " + script + "\n");
        awaitScreen("round 2");
    }

    @Test
    void inAPipeTheCommandGetsTheTerminalWhenItReadsFromIt() throws Exception {
        type(
                "$LOCKCTL $RUN x -- sh -c 'echo rea\"\"dy; read line </dev/tty; echo got \"<$line>\"' | cat; echo co\"\"de=$?\n");
        awaitScreen("ready");
        type("hello\n");
        awaitScreen("code=0");
        assertThat(screen()).contains("got <hello>");
    }

    @Test
    void inAPipeCtrlCIsForwardedOnce() throws Exception {
        type(
                "set -o pipefail; $LOCKCTL $RUN x -- sh -c 'trap \"echo inter\"\"rupted; exit 6\" INT; echo rea\"\"dy; while :; do sleep 0.1; done'"
                        + " | sh -c 'trap \"\" INT; cat'; echo co\"\"de=$?\n");
        awaitScreen("ready");
        type(CTRL_C);
        awaitScreen("code=6");
        assertThat(screen()).containsOnlyOnce("interrupted");
    }

    @Test
    void waitingIsReportedAndCtrlCEndsIt() throws Exception {
        try (LockClient client = Locks.connect(url);
                Lease held = client.named("x").acquire()) {
            type("$LOCKCTL $RUN x -- echo ran; echo co\"\"de=$?\n");
            awaitScreen("lockctl: waiting for lock \"x\"");
            type(CTRL_C);
            type("echo co\"\"de=$?\n");
            awaitScreen("code=130");
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void theShellGetsTheTerminalBackAfterALoss() throws Exception {
        type("$LOCKCTL $RUN --lease 6s x -- sh -c 'echo pids $$ he\"\"re; rm -r store; sleep 100'; echo co\"\"de=$?\n");
        awaitScreen("code=75");
        type("read line; echo got \"<$line>\"\nhello\n");
        awaitScreen("got <hello>");
        assertThat(RunCommandTest.pids(screen())).noneMatch(LockctlProcess::isRunning);
    }
}
