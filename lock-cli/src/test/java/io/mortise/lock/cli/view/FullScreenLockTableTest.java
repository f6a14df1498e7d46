// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.LockClient;
import io.mortise.lock.cli.run.LockctlProcess;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code lockctl watch} on a terminal, which the program {@code script} provides. */
@Tag("once")
class FullScreenLockTableTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @TempDir
    Path dir = Path.of("");

    private String shown(Path typescript) throws IOException {
        return Files.exists(typescript) ? Files.readString(typescript, StandardCharsets.UTF_8) : "";
    }

    @Test
    void redrawsInPlaceAndRestoresTheTerminalOnCtrlC() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script (util-linux) is not installed");
        Path out = dir.resolve("out");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        try (RedisTestServer server = RedisTestServer.start();
                LockClient client = Locks.connect(server.url())) {
            client.named("inventory/1").acquire();
            String command = "stty rows 12 cols 70; exec '" + java + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
                    + " -Dlockctl.terminal.out=true -cp '" + System.getProperty("java.class.path")
                    + "' io.mortise.lock.cli.LockCtl watch --interval 100ms --url " + server.url();
            Process script = new ProcessBuilder(LockctlProcess.withDefaultSignals(
                            List.of("/usr/bin/script", "-qefc", command, "/dev/null")))
                    .redirectOutput(out.toFile())
                    .redirectErrorStream(true)
                    .start();
            try {
                Await.until("the lock is shown", TIMEOUT, () -> shown(out).contains("inventory/1"));
                for (int i = 0; i < 20; i++) {
                    client.named("more/" + i).acquire();
                }
                Await.until("all are counted", TIMEOUT, () -> shown(out).contains("21 held, 0 waiting"));
                Await.until(
                        "the locks that do not fit are counted",
                        TIMEOUT,
                        () -> shown(out).contains("... and 14 more"));
                script.getOutputStream().write(3); // Ctrl-C
                script.getOutputStream().flush();
                assertThat(script.waitFor(30, TimeUnit.SECONDS)).isTrue();
                assertThat(script.exitValue()).isEqualTo(130);
            } finally {
                script.destroyForcibly();
            }
        }
        String all = shown(out);
        assertThat(all).contains("\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[H");
        assertThat(all.stripTrailing()).endsWith("\u001b[?7h\u001b[?25h\u001b[?1049l");
        String lastFrame = all.substring(all.lastIndexOf("\u001b[H"));
        // The terminal replaces each LF by CR LF, even after a CR.
        assertThat(lastFrame
                        .replace("\r", "")
                        .lines()
                        .map(line -> line.replaceAll("\u001b\\[[?0-9]*[A-Za-z]|\\^C", "")))
                .hasSizeLessThanOrEqualTo(12)
                .allMatch(line -> line.length() <= 70);
    }
}
