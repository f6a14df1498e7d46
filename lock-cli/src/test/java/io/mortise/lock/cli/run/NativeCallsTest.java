// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.run.LockctlProcess.Ended;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests of native calls, which depend on the JDK, and of the warnings that the JDK prints about them. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class NativeCallsTest {
    @TempDir
    Path dir = Path.of("");

    private static CommandProcessGroup group(String... command) {
        return new CommandProcessGroup(
                List.of(command).stream()
                        .map(word -> word.getBytes(StandardCharsets.UTF_8))
                        .toList(),
                EnvironmentBytes.with(Map.of("LOCK_NAME", "x")));
    }

    @Test
    void awaitReportsStopsAndReturnsTheExitCode() {
        CommandProcessGroup group = group("sh", "-c", "kill -STOP $$; [ $LOCK_NAME = x ] && exit 7");
        List<Integer> stops = new ArrayList<>();
        assertThat(group.start(pid -> assertThat(pid).isPositive())).isTrue();
        int code = group.await(signal -> {
            stops.add(signal);
            group.signal(SignalHandlerInstaller.number("CONT"));
        });

        assertThat(code).isEqualTo(7);
        assertThat(stops).containsExactly(SignalHandlerInstaller.number("STOP"));
        assertThat(group.hasEnded()).isTrue();
    }

    @Test
    void anExitCodeAbove128IsNotTakenForASignal() {
        CommandProcessGroup exits = group("sh", "-c", "exit 130");
        exits.start(pid -> {});
        assertThat(exits.await(signal -> {})).isEqualTo(130);
        assertThat(exits.killedBy()).isZero();

        CommandProcessGroup dies = group("sh", "-c", "kill -TERM $$");
        dies.start(pid -> {});
        assertThat(dies.await(signal -> {})).isEqualTo(143);
        assertThat(dies.killedBy()).isEqualTo(15);
    }

    @Test
    void aGroupKilledBeforeItsStartIsNotStarted() {
        CommandProcessGroup group = group("true");
        assertThat(group.kill()).isTrue();

        assertThat(group.start(pid -> {})).isFalse();
    }

    @Test
    void aFailedStartReportsTheErrorOfTheSystem() {
        assertThatThrownBy(() -> group("/no/such/program").start(pid -> {}))
                .isInstanceOfSatisfying(
                        CommandFailedException.class,
                        failed -> assertThat(failed.exitCode()).isEqualTo(127))
                .hasMessageContaining("No such file");
    }

    @Test
    void theJdkPrintsNoWarningsAboutNativeCalls() throws Exception {
        Path store = Files.createDirectory(dir.resolve("store"));
        try (LockctlProcess run =
                LockctlProcess.start(dir, "run", "-u", "file-test:" + store, "x", "--", "echo", "ran")) {
            assertThat(run.end()).isEqualTo(new Ended(0, "ran\n", ""));
        }
    }
}
