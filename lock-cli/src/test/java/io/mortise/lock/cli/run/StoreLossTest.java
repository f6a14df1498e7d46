// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.run.LockctlProcess.Ended;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests how {@code lockctl run} and {@code hold} react to outages of the store and losses of the lock, on a real Redis. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
@Execution(ExecutionMode.CONCURRENT)
class StoreLossTest {
    private final RedisTestServer server = RedisTestServer.start();
    private final RawRedis redis = server.connect();

    @TempDir
    Path dir = Path.of("");

    @AfterEach
    void stopServer() {
        redis.close();
        server.close();
    }

    private LockctlProcess run(String... arguments) {
        return lockctl("run", server.url() + "?lease=6s", arguments);
    }

    private LockctlProcess lockctl(String command, String url, String... arguments) {
        List<String> all = new ArrayList<>(List.of(command, "--url", url));
        all.addAll(List.of(arguments));
        return LockctlProcess.start(dir, all.toArray(String[]::new));
    }

    @Test
    void aStoppedStoreCausesTermFirstAndKillBeforeTheDeadline() throws IOException {
        Duration lease = Duration.ofSeconds(12);
        try (LockctlProcess run = run("--lease", lease.toSeconds() + "s", "stopped", "--", "sh", "-c", """
                trap 'echo terminated' TERM
                sleep 300 & echo pids $$ $! here; while :; do touch alive; sleep 0.05; done""")) {
            run.awaitOutput("here");
            List<Long> pids = RunCommandTest.pids(run.out());
            server.pause();
            Instant stopped = Instant.now();
            Ended ended;
            try {
                run.awaitOutput("terminated");
                assertThat(LockctlProcess.isRunning(pids.get(0))).isTrue();

                LockctlProcess.awaitEnd(pids);
                // The store keeps the lock for one lease after the last renewal, which was before the store stopped.
                assertThat(Files.getLastModifiedTime(dir.resolve("alive")).toInstant())
                        .as("last sign of life of the command")
                        .isBefore(stopped.plus(lease));
                Instant commandEnded = Instant.now();
                ended = run.end();
                assertThat(commandEnded)
                        .as("lockctl does not wait for the stopped store")
                        .isAfter(Instant.now().minusSeconds(4));
            } finally {
                server.resume();
            }
            assertThat(ended.code()).as(ended.err()).isEqualTo(75);
            assertThat(ended.err())
                    .containsSubsequence(
                            "lockctl: lock \"stopped\" expires in ",
                            "the command is being terminated",
                            "the command was killed");
        }
    }

    @Test
    void aCommandThatEndsOnTermStillCountsAsLost() {
        try (LockctlProcess run = run(
                "--lease",
                "12s",
                "term",
                "--",
                "sh",
                "-c",
                "trap 'exit 0' TERM; echo here; while :; do sleep 0.05; done")) {
            run.awaitOutput("here");
            server.pause();
            try {
                run.awaitError("is being terminated");
            } finally {
                server.resume();
            }
            Ended ended = run.end();
            assertThat(ended.code()).isEqualTo(75);
            assertThat(ended.err()).doesNotContain("killed");
        }
    }

    @Test
    void S01_processesOfACommandThatEndsOnTermAreKilledBeforeTheDeadline() throws IOException {
        Duration lease = Duration.ofSeconds(12);
        try (LockctlProcess run = run("--lease", lease.toSeconds() + "s", "rest", "--", "sh", "-c", """
                (trap '' TERM; while touch alive; do sleep 0.05; done) & echo pids $! here; wait""")) {
            run.awaitOutput("here");
            List<Long> rest = RunCommandTest.pids(run.out());
            server.pause();
            Instant stopped = Instant.now();
            Ended ended;
            try {
                ended = run.end();
                LockctlProcess.awaitEnd(rest);
            } finally {
                server.resume();
            }
            assertThat(Files.getLastModifiedTime(dir.resolve("alive")).toInstant())
                    .as("last sign of life")
                    .isBefore(stopped.plus(lease));
            assertThat(ended.code()).as(ended.err()).isEqualTo(75);
            assertThat(ended.err()).contains("killed");
        }
    }

    @Test
    void aForcedReleaseEndsTheCommand() {
        try (LockctlProcess run =
                        run("taken", "--", "sh", "-c", "trap '' TERM; sleep 300 & echo pids $$ $! here; wait");
                LockClient client = Locks.connect(server.url(), LockctlProcess.LONG_TIMEOUTS)) {
            run.awaitOutput("here");
            List<Long> pids = RunCommandTest.pids(run.out());
            LockAdmin admin = client.admin().orElseThrow();
            LockHolder holder = client.named("taken").status().join().holders().get(0);
            assertThat(holder.metadata()).containsEntry("command", "sh");
            assertThat(admin.forceRelease("taken", holder).join()).isTrue();

            // The next renewal reports the loss (S7), before the deadline: the reason is REMOVED.
            LockctlProcess.awaitEnd(pids);
            Ended ended = run.end();
            assertThat(ended.code()).isEqualTo(75);
            assertThat(ended.err())
                    .contains("lockctl: lock \"taken\" was lost: REMOVED (", "); the command was killed");
        }
    }

    @Test
    @Tag("long")
    void withOnLossWarnTheCommandContinues() {
        try (LockctlProcess run =
                run("warned", "--on-loss=warn", "--", "sh", "-c", "echo here; read line; echo $line; exit 3")) {
            run.awaitOutput("here");
            redis.call("DEL", "lock:warned");
            run.awaitError("); the command continues without it");
            run.input("continued\n");

            Ended ended = run.end();
            assertThat(ended.out()).isEqualTo("here\ncontinued\n");
            assertThat(ended.code()).isEqualTo(75);
        }
    }

    @Test
    void aSignalWhileWaitingLeavesNoQueueEntry() throws Exception {
        try (LockClient client = Locks.connect(server.url(), LockctlProcess.LONG_TIMEOUTS)) {
            DistributedLock lock = client.named("wait");
            try (Lease held = lock.acquire();
                    LockctlProcess run = run("wait", "--", "echo", "ran");
                    LockctlProcess hold = lockctl("hold", server.url(), "wait")) {
                Await.until("both wait", LockctlProcess.TIMEOUT, () -> waiters(lock) == 2);
                run.signal("TERM");
                hold.signal("INT");

                assertThat(run.end()).isEqualTo(new Ended(143, "", ""));
                assertThat(hold.end()).isEqualTo(new Ended(130, "", ""));
                Await.until("both queue entries are deleted (S8)", Duration.ofSeconds(1), () -> waiters(lock) == 0);
                assertThat(held.isHeld()).isTrue();
            }
        }
        assertThat((List<?>) redis.call("KEYS", "lock:wait*")).isEmpty();
    }

    private static int waiters(DistributedLock lock) {
        LockStatus status = lock.status().join();
        return status.waiters().size();
    }

    @Test
    void holdKeepsTheLockUntilASignal() {
        try (LockctlProcess hold = lockctl("hold", server.url(), "--json", "held")) {
            hold.awaitOutput("\n");
            assertThat(hold.out())
                    .matches("\\{\"name\":\"held\",\"owner\":\"[0-9a-f]{32}\",\"token\":\\d+,\"since\":\"[^\"]+Z\"}\n");
            assertThat(redis.call("EXISTS", "lock:held")).isEqualTo(1L);
            try (LockctlProcess second = lockctl("hold", server.url(), "-n", "held")) {
                assertThat(second.end()).isEqualTo(new Ended(1, "", ""));
            }

            assertThat(hold.signal("HUP").end().code()).isZero();
            assertThat(redis.call("EXISTS", "lock:held")).isEqualTo(0L);
        }
    }

    @Test
    void holdReportsALoss() {
        try (LockctlProcess hold = lockctl("hold", server.url(), "--lease", "9s", "deleted")) {
            hold.awaitOutput("held name=deleted owner=");
            redis.call("DEL", "lock:deleted");

            Ended ended = hold.end();
            assertThat(ended.code()).isEqualTo(75);
            assertThat(ended.err()).contains("lockctl: lock \"deleted\" was lost: REMOVED");
            assertThat(ended.err().lines()).as("lines on standard error").hasSize(1);
        }
    }

    @Test
    void aNestedRunForTheSameLockReportsThatItIsBusy() {
        try (LockctlProcess run =
                run("self", "--", "sh", "-c", "$LOCKCTL run -u $0 self -- echo ran; echo inner=$?", server.url())) {
            Ended ended = run.end();
            assertThat(ended.out()).isEqualTo("inner=1\n");
            assertThat(ended.err())
                    .isEqualTo(
                            "lockctl: lock \"self\" is busy: it is held by the enclosing lockctl run, which waits for"
                                    + " this one to end\n");
        }
    }

    @Test
    @Tag("long")
    void logMessagesOfLibrariesAboutAnOutageAreNotShown() {
        try (RedisTestServer own = RedisTestServer.start();
                LockctlProcess hold = lockctl("hold", own.url(), "--lease", "6s", "x")) {
            hold.awaitOutput("held name=x");
            own.stop();

            Ended ended = hold.end();
            assertThat(ended.code()).isEqualTo(75);
            assertThat(ended.err())
                    .contains("lockctl: lock \"x\" was lost: EXPIRED")
                    .doesNotContain("ConnectionWatchdog", "Cannot reconnect");
        }
    }

    @Test
    void rejectedCredentialsHaveExitCode77() {
        Ended ended;
        String url = server.url().replace("redis://", "redis://nobody:secret-word@");
        try (LockctlProcess run = lockctl("run", url, "x", "--", "echo", "ran")) {
            ended = run.end();
        }
        assertThat(ended.code()).as(ended.err()).isEqualTo(77);
        assertThat(ended.err())
                .contains("lockctl: ", "Check the user and the password")
                .doesNotContain("secret-word")
                .doesNotContain(";"); // lockctl adds no remedy to that of the backend
        assertThat(ended.err().lines()).hasSize(1);
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void aLeaseOptionIsRejectedIfTheBackendDoesNotSupportIt() {
        Ended ended;
        try (EtcdTestServer etcd = EtcdTestServer.start();
                LockctlProcess run = lockctl("run", etcd.url(), "--lease", "5s", "x", "--", "echo", "ran")) {
            ended = run.end();
        }
        assertThat(ended.code()).as(ended.err()).isEqualTo(64);
        assertThat(ended.err().lines())
                .containsExactly(
                        "lockctl: leaseDuration is PT5S, but this backend has one lease for all locks: its session"
                                + " of PT15S; set it for the whole client, in its URL or options");
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void S15_waitingForMastersThatDoNotVoteYetIsReportedOnce() {
        try (RedisTestMasters masters = RedisTestMasters.start(3)) {
            String url = masters.url() + "?lease=2s&maxLease=4s";
            for (String command : List.of("who", "list")) {
                List<String> arguments = command.equals("who") ? List.of("x") : List.of();
                masters.each(redis -> redis.call("FLUSHALL"));
                try (LockctlProcess waits = lockctl(command, url, arguments.toArray(String[]::new))) {
                    Ended ended = waits.end();
                    assertThat(ended.err().lines().filter(line -> line.contains("event=waiting-for-masters")))
                            .as("%s", ended)
                            .hasSize(1);
                }
            }
        }
    }
}
