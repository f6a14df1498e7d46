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

/** What happens to a command when lockctl or its watchdog is killed. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "looks into /proc")
class UnattendedCommandTest {
    @TempDir
    Path dir = Path.of("");

    private String url = "";

    @BeforeEach
    void makeStore() throws Exception {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
    }

    private LockctlProcess run(String... arguments) {
        return LockctlProcess.run(dir, url, arguments);
    }

    @Test
    void killingUsKillsAllThatRunsUnderTheLock() {
        try (LockctlProcess run = run(
                "x",
                "--",
                "sh",
                "-c",
                // Neither of them would end by itself or of a polite signal, and one has a child of its own.
                "trap '' TERM HUP INT; sleep 300 & echo pids $$ $! here; while :; do sleep 1; done")) {
            run.awaitOutput("here");
            List<Long> pids = pids(run.out());
            assertThat(pids).allMatch(LockctlProcess::runs);
            run.signal("KILL").end();

            LockctlProcess.awaitDeath(pids);
        }
    }

    @Test
    void aCommandThatIsOnlyWarnedDoesNotOutliveARunAroundIt() {
        try (LockctlProcess run = run(
                "x",
                "--",
                "sh",
                "-c",
                "$LOCKCTL run -u $0 --on-loss=warn y -- sh -c 'trap \"\" TERM HUP INT; echo pids $$ here; exec sleep 300'; true",
                url)) {
            run.awaitOutput("here");
            List<Long> pids = pids(run.out());
            assertThat(pids).allMatch(LockctlProcess::runs);
            run.signal("KILL").end();

            LockctlProcess.awaitDeath(pids);
        }
    }

    /** The command has filled the pipe that both write to, and nobody reads it. */
    @Test
    void aStalledStandardErrorKeepsNobodyFromBeingAsked() {
        Path asked = dir.resolve("asked");
        try (LockctlProcess all = LockctlProcess.start(dir, Map.of("URL", url), List.of("bash", "-c", """
                        { $LOCKCTL run --lease 9s -u $URL x -- sh -c '
                            trap "echo asked >asked; exit" TERM
                            yes >&2 & exec 2>/dev/null
                            rm -r store; while :; do sleep 0.05; done'
                          echo code=$? >code; } 2>&1 >/dev/null | { while [ ! -e read ]; do sleep 0.1; done; }"""))) {
            Await.until("it is asked", LockctlProcess.SOON, () -> Files.exists(asked));
            Await.until("lockctl has ended", LockctlProcess.SOON, () -> Files.exists(dir.resolve("code")));
            write(dir.resolve("read"));
            all.end();
        }
        assertThat(LockctlProcess.read(dir.resolve("code"))).isEqualTo("code=75\n");
    }

    private static void write(Path file) {
        try {
            Files.createFile(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aStoppedUsDoesNotOutliveTheLease() throws Exception {
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
                LockctlProcess.awaitDeath(pids);
                assertThat(Files.getLastModifiedTime(dir.resolve("alive")).toInstant())
                        .as("its last sign of life")
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
            run.awaitError("lockctl: the watchdog was killed; another one is started");
            assertThat(LockctlProcess.runs(command)).isTrue();

            run.signal("KILL").end();
            Await.until("the command is dead", Duration.ofSeconds(5), () -> !LockctlProcess.runs(command));
        }
    }
}
