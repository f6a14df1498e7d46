// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Tests how the watchdog script reacts to its input, without lockctl. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
class WatchdogTest {
    private final String owner =
            UUID.randomUUID().toString(); // unique for each test, as a watchdog of the previous test may still search

    private Process command;
    private Process watchdog;
    private Writer pipe;

    @BeforeEach
    void start() throws IOException {
        command = process(Map.of("LOCK_OWNER", owner), "setsid", "sh", "-c", "trap '' TERM; sleep 300 & wait");
        try (InputStream script = Objects.requireNonNull(Watchdog.class.getResourceAsStream("watchdog.sh"))) {
            String text = new String(script.readAllBytes(), StandardCharsets.UTF_8);
            watchdog = process(Map.of(), "/bin/sh", "-c", text, "watchdog", owner);
        }
        pipe = watchdog.outputWriter();
        Await.until("the command leads a group", LockctlProcess.TIMEOUT, () -> leads(command.pid()));
    }

    private static Process process(Map<String, String> environment, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(command))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static boolean leads(long pid) {
        String stat = LockctlProcess.read(Path.of("/proc/" + pid + "/stat"));
        return stat.substring(stat.lastIndexOf(')')).split(" ", -1)[3].equals(Long.toString(pid))
                && ProcessHandle.of(pid).orElseThrow().children().findAny().isPresent();
    }

    @AfterEach
    void end() throws IOException {
        watchdog.destroyForcibly();
        command.descendants().forEach(ProcessHandle::destroyForcibly);
        command.destroyForcibly();
        pipe.close();
    }

    private void send(String line) throws IOException {
        pipe.write(line + "\n");
        pipe.flush();
    }

    private void awaitEndOfAll(List<ProcessHandle> processes) {
        LockctlProcess.awaitEnd(processes.stream().map(ProcessHandle::pid).toList());
    }

    private List<ProcessHandle> group() {
        return List.of(command.toHandle(), command.children().findFirst().orElseThrow());
    }

    @Test
    void killsTheGroupAtTheLatestDeadlineAndNotBefore() throws Exception {
        List<ProcessHandle> group = group();
        long begin = System.nanoTime();
        send(command.pid() + " 4.000");
        send(command.pid() + " 8.000"); // renewed
        awaitEndOfAll(group);

        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .isBetween(Duration.ofMillis(7_999), LockctlProcess.TIMEOUT);
    }

    @Test
    void killsTheGroupAtOnceWhenThePipeIsClosed() throws Exception {
        List<ProcessHandle> group = group();
        send(command.pid() + " 300.000");
        pipe.close();

        awaitEndOfAll(group);
        assertThat(watchdog.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void doneEndsTheWatchdogWithoutKillingTheGroup() throws Exception {
        send(command.pid() + " 300.000");
        Await.until(
                "the timer runs",
                LockctlProcess.TIMEOUT,
                () -> watchdog.descendants().count() == 2);
        List<ProcessHandle> timer = watchdog.descendants().toList();
        send("done");

        assertThat(watchdog.waitFor(20, TimeUnit.SECONDS)).isTrue();
        awaitEndOfAll(timer);
        assertThat(command.isAlive()).isTrue();
    }

    @Test
    void findsAnUnknownGroupByItsOwnerWhenThePipeIsClosed() throws Exception {
        List<ProcessHandle> group = group();
        send("0 300.000");
        pipe.close();

        awaitEndOfAll(group);
    }

    @Test
    void findsAnUnknownGroupByItsOwnerAtTheDeadline() throws Exception {
        List<ProcessHandle> group = group();
        send("0 0.100");

        awaitEndOfAll(group);
    }
}
