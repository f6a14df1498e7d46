// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static io.mortise.lock.cli.run.RunCommandTest.pids;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.run.LockctlProcess.Ended;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests what happens to a command when lockctl or its watchdog is killed or stopped. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
@Execution(ExecutionMode.CONCURRENT)
class UnattendedCommandTest {
    @TempDir
    Path dir = Path.of("");

    private String url = "";

    @BeforeEach
    void createStore() throws Exception {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
    }

    private LockctlProcess run(String... arguments) {
        return LockctlProcess.run(dir, url, arguments);
    }

    @Test
    void killingLockctlKillsAllProcessesOfTheCommand() {
        try (LockctlProcess run = run(
                "x",
                "--",
                "sh",
                "-c",
                // No process would end by itself or on TERM, and the command has a child process.
                "trap '' TERM HUP INT; sleep 300 & echo pids $$ $! here; while :; do sleep 1; done")) {
            run.awaitOutput("here");
            List<Long> pids = pids(run.out());
            assertThat(pids).allMatch(LockctlProcess::isRunning);
            run.signal("KILL").end();

            LockctlProcess.awaitEnd(pids);
        }
    }

    @Test
    void aCommandWithOnLossWarnDoesNotOutliveAnEnclosingRun() {
        try (LockctlProcess run = run(
                "x",
                "--",
                "sh",
                "-c",
                "$LOCKCTL run -u $0 --on-loss=warn y -- sh -c 'trap \"\" TERM HUP INT; echo pids $$ here; exec sleep 300'; true",
                url)) {
            run.awaitOutput("here");
            List<Long> pids = pids(run.out());
            assertThat(pids).allMatch(LockctlProcess::isRunning);
            run.signal("KILL").end();

            LockctlProcess.awaitEnd(pids);
        }
    }

    /** The command has filled the pipe to which lockctl writes as well, and no process reads it. */
    @Test
    void aStalledStandardErrorDoesNotPreventTheTermination() {
        Path terminated = dir.resolve("terminated");
        try (LockctlProcess all = LockctlProcess.start(dir, Map.of("URL", url), List.of("bash", "-c", """
                        { $LOCKCTL run --lease 9s -u $URL x -- sh -c '
                            trap "echo terminated >terminated; exit" TERM
                            yes >&2 & exec 2>/dev/null
                            rm -r store; while :; do sleep 0.05; done'
                          echo code=$? >code; } 2>&1 >/dev/null | { while [ ! -e read ]; do sleep 0.1; done; }"""))) {
            Await.until("the command gets TERM", LockctlProcess.TIMEOUT, () -> Files.exists(terminated));
            Await.until("lockctl has ended", LockctlProcess.TIMEOUT, () -> Files.exists(dir.resolve("code")));
            create(dir.resolve("read"));
            all.end();
        }
        assertThat(LockctlProcess.read(dir.resolve("code"))).isEqualTo("code=75\n");
    }

    private static void create(Path file) {
        try {
            Files.createFile(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aCommandOfAStoppedLockctlDoesNotOutliveTheLease() throws Exception {
        try (LockClient client = Locks.connect(url);
                LockctlProcess run = run(
                        "--lease",
                        "6s",
                        "x",
                        "--",
                        "sh",
                        "-c",
                        "sleep 300 & echo pids $$ $! here; while :; do touch alive; sleep 0.05; done")) {
            run.awaitOutput("here").signal("STOP");
            List<Long> pids = pids(run.out());

            try (Lease next = client.named("x").acquire()) {
                Instant granted = Instant.now();
                LockctlProcess.awaitEnd(pids);
                assertThat(Files.getLastModifiedTime(dir.resolve("alive")).toInstant())
                        .as("last sign of life of the command")
                        .isBefore(granted);
                assertThat(next.fencingToken()).isEqualTo(2);
            }
            run.signal("CONT");
            Ended ended = run.end();
            assertThat(ended.code()).isEqualTo(75);
            assertThat(ended.err()).contains("lockctl: lock \"x\" ", "; the command was killed");
        }
    }

    @Test
    void aWatchdogThatIsKilledIsReplaced() {
        try (LockctlProcess run = run("x", "--", "sh", "-c", "echo pids $$ here; exec sleep 300")) {
            run.awaitOutput("here");
            long command = pids(run.out()).get(0);
            ProcessHandle lockctl = ProcessHandle.of(run.pid()).orElseThrow();
            ProcessHandle watchdog = lockctl.children()
                    .filter(child -> child.pid() != command)
                    .findFirst()
                    .orElseThrow();
            LockctlProcess.send("KILL", watchdog.pid());
            run.awaitError("lockctl: the watchdog was killed; another one was started");
            assertThat(LockctlProcess.isRunning(command)).isTrue();

            run.signal("KILL").end();
            Await.until("the command has ended", Duration.ofSeconds(5), () -> !LockctlProcess.isRunning(command));
        }
    }
}
