// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static io.mortise.lock.cli.run.LockctlProcess.command;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.run.LockctlProcess.Ended;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When {@code lockctl hold} lets go, but for signals; on a store of files. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "looks into /proc")
class HoldCommandTest {
    @TempDir
    Path dir = Path.of("");

    private String url = "";

    @BeforeEach
    void makeStore() throws Exception {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
    }

    private LockctlProcess script(String text) {
        return LockctlProcess.start(dir, Map.of("URL", url), List.of("bash", "-c", text));
    }

    private static long pid(LockctlProcess script) {
        return RunCommandTest.pids(script.out()).get(0);
    }

    @Test
    void itEndsWithItsScript() throws Exception {
        try (LockctlProcess script = script("$LOCKCTL hold -u $URL x & echo pids $! here; wait")) {
            script.awaitOutput("held name=x");
            long hold = pid(script);
            script.signal("KILL").end();

            LockctlProcess.awaitDeath(List.of(hold));
            try (LockClient client = Locks.connect(url);
                    Lease next = client.named("x").tryAcquire().orElseThrow()) {
                assertThat(next.isHeld()).as("it was released").isTrue();
            }
        }
    }

    @Test
    void itEndsWithItsScriptAlsoWhileItWaits() throws Exception {
        try (LockClient client = Locks.connect(url);
                Lease held = client.named("x").acquire();
                LockctlProcess script =
                        script("$LOCKCTL hold -u $URL y & $LOCKCTL hold -u $URL x & echo pids $! here; wait")) {
            script.awaitOutput("held name=y"); // so the other one waits, or is about to
            long hold = pid(script);
            script.signal("KILL").end();

            LockctlProcess.awaitDeath(List.of(hold));
            assertThat(held.isHeld()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"42, false, false, true", "1, false, false, false", "42, true, false, false", "42, false, true, false"})
    void whatIsMeantToOutliveItsStarterDoes(
            long starter, boolean ignoresHangup, boolean leadsSession, boolean followed) {
        assertThat(ParentProcess.isFollowed(starter, ignoresHangup, leadsSession))
                .isEqualTo(followed);
    }

    /** Its starter has ended once it holds, and --max-hold ends it long after it would have been noticed. */
    @ParameterizedTest
    @CsvSource({"nohup, ''", "setsid, ''", "'', --stay"})
    void nohupSetsidAndStayHold(String by, String option) throws Exception {
        try (LockctlProcess script = script(by + " $LOCKCTL hold -u $URL " + option
                + " --max-hold 3 x >held 2>said & echo $! >pid; until grep -q held held; do sleep 0.1; done")) {
            assertThat(script.end().code()).isZero();
            Await.until(
                    "it has ended",
                    LockctlProcess.SOON,
                    () -> LockctlProcess.read(dir.resolve("said"))
                            .contains("is released after 3000 ms, as --max-hold says"));
        }
        // Until then it may write into the directory that is to be deleted.
        LockctlProcess.awaitDeath(
                List.of(Long.valueOf(LockctlProcess.read(dir.resolve("pid")).strip())));
        assertThat(LockctlProcess.read(dir.resolve("said"))).doesNotContain("has ended");
    }

    @Test
    void itHoldsForSoLongAtMost() {
        try (LockctlProcess hold =
                LockctlProcess.start(dir, Map.of(), command("hold", "-u", url, "--max-hold", "1s", "x"))) {
            hold.awaitOutput("held name=x");
            long begin = System.nanoTime();
            Ended ended = hold.end();
            assertThat(ended.code()).isZero();
            assertThat(ended.err()).isEqualTo("lockctl: lock \"x\" is released after 1000 ms, as --max-hold says\n");
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(LockctlProcess.SOON);
        }
    }
}
