// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.cli.run.LockctlProcess.Ended;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code lockctl run} on two machines, simulated by network namespaces, when one loses its connection to the store. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs network namespaces")
class TwoMachinesTest {
    @TempDir
    Path dir = Path.of("");

    private Process network;
    private BufferedReader output;
    private Writer commands;
    private List<String> machines = List.of();

    @BeforeEach
    void createNetwork() throws Exception {
        String script;
        try (InputStream file = Objects.requireNonNull(TwoMachinesTest.class.getResourceAsStream("two-machines.sh"))) {
            script = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        Path error = dir.resolve("network-error");
        network = new ProcessBuilder("unshare", "--map-root-user", "--net", "sh", "-c", script)
                .directory(dir.toFile())
                .redirectError(error.toFile())
                .start();
        output = network.inputReader();
        commands = network.outputWriter();
        String line = output.readLine();
        assumeTrue(line != null, () -> "no network namespaces here: " + LockctlProcess.read(error));
        machines = List.of(line.split(" ")).subList(1, 3);
    }

    @AfterEach
    void end() throws Exception {
        commands.close();
        if (!network.waitFor(5, TimeUnit.SECONDS)) {
            network.destroyForcibly();
        }
    }

    /** Runs a script under the lock on machine 1 or 2. */
    private LockctlProcess run(int machine, String script) {
        List<String> command = new ArrayList<>(
                List.of("nsenter", "-t", machines.get(machine - 1), "--user", "--net", "--preserve-credentials"));
        command.addAll(LockctlProcess.command(
                "run", "-u", "redis://10.7." + machine + ".1:6379?lease=12s", "x", "--", "sh", "-c", script));
        return LockctlProcess.start(dir, Map.of(), command);
    }

    @Test
    void aDisconnectedCommandIsKilledBeforeTheOtherMachineGetsTheLock() throws Exception {
        try (LockctlProcess first = run(
                        1,
                        "trap '' TERM; echo $LOCK_FENCING_TOKEN here; while :; do date +%s%N >>ticks; sleep 0.01; done");
                LockctlProcess second = awaitThenStart(first, () -> run(2, "date +%s%N; echo $LOCK_FENCING_TOKEN"))) {
            commands.write("cut\n");
            commands.flush();
            assertThat(output.readLine()).isEqualTo("is cut");

            Ended later = second.end();
            assertThat(later.code()).as(later.err()).isZero();
            List<String> begin = later.out().lines().toList();
            assertThat(Long.parseLong(begin.get(1)))
                    .isGreaterThan(Long.parseLong(first.out().split(" ", 2)[0]));
            List<String> ticks = Files.readAllLines(dir.resolve("ticks"));
            assertThat(Long.parseLong(ticks.get(ticks.size() - 1)))
                    .as("the last sign of life of the first, before the second began")
                    .isLessThan(Long.parseLong(begin.get(0)));

            Ended cutOff = first.end();
            assertThat(cutOff.code()).as(cutOff.err()).isEqualTo(75);
            assertThat(cutOff.err()).contains("is being terminated", "the command was killed");
        }
    }

    private static LockctlProcess awaitThenStart(LockctlProcess first, Supplier<LockctlProcess> next) {
        first.awaitOutput("here");
        return next.get();
    }
}
