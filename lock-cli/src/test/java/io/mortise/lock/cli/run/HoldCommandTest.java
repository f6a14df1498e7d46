// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static io.mortise.lock.cli.run.LockctlProcess.command;
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
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests when {@code lockctl hold} releases its lock other than by a signal, on a file store. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
class HoldCommandTest {
    @TempDir
    Path dir = Path.of("");

    private String url = "";

    @BeforeEach
    void createStore() throws Exception {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
    }

    private LockctlProcess script(String text) {
        return LockctlProcess.start(dir, Map.of("URL", url), List.of("bash", "-c", text));
    }

    private static long pid(LockctlProcess script) {
        return RunCommandTest.pids(script.out()).get(0);
    }

    @Test
    void endsWithItsScript() throws Exception {
        try (LockctlProcess script = script("$LOCKCTL hold -u $URL x & echo pids $! here; wait")) {
            script.awaitOutput("held name=x");
            long hold = pid(script);
            script.signal("KILL").end();

            LockctlProcess.awaitEnd(List.of(hold));
            try (LockClient client = Locks.connect(url);
                    Lease next = client.named("x").tryAcquire().orElseThrow()) {
                assertThat(next.isHeld()).as("the lock was released before").isTrue();
            }
        }
    }

    @Test
    void endsWithItsScriptThatNobodyReaps() {
        try (LockctlProcess neverWaits =
                script("bash -c '$LOCKCTL hold -u $URL x & echo pids $$ $! here; wait' & exec sleep 300")) {
            neverWaits.awaitOutput("held name=x");
            List<Long> scriptAndHold = RunCommandTest.pids(neverWaits.out());
            LockctlProcess.send("KILL", scriptAndHold.get(0));

            LockctlProcess.awaitEnd(scriptAndHold);
        }
    }

    @Test
    void endsWithItsScriptWhileItWaits() throws Exception {
        try (LockClient client = Locks.connect(url);
                Lease held = client.named("x").acquire();
                LockctlProcess script =
                        script("$LOCKCTL hold -u $URL y & $LOCKCTL hold -u $URL x & echo pids $! here; wait")) {
            script.awaitOutput("held name=y");
            long hold = pid(script);
            // Its client has a timer when it waits. A hold that begins only after its script has ended outlives it.
            Await.until("the other hold waits", LockctlProcess.TIMEOUT, () -> hasThread(hold, "mortise-timer-1"));
            script.signal("KILL").end();

            LockctlProcess.awaitEnd(List.of(hold));
            assertThat(held.isHeld()).isTrue();
        }
    }

    private static boolean hasThread(long pid, String name) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            return threads.map(thread -> LockctlProcess.read(thread.resolve("comm")))
                    .anyMatch(comm -> comm.strip().equals(name));
        } catch (IOException | UncheckedIOException e) {
            return false; // a thread has ended meanwhile
        }
    }

    @ParameterizedTest
    @CsvSource({"42, false, false, true", "1, false, false, false", "42, true, false, false", "42, false, true, false"})
    void followsItsParentUnlessItIsMeantToOutliveIt(
            long parent, boolean ignoresHangup, boolean leadsSession, boolean followed) {
        assertThat(ParentProcess.mustFollow(parent, ignoresHangup, leadsSession))
                .isEqualTo(followed);
    }

    /** The parent ends as soon as the lock is held; --max-hold ends the hold long after that would have been noticed. */
    @ParameterizedTest
    @CsvSource({"nohup, ''", "setsid, ''", "'', --stay"})
    void nohupSetsidAndStayOutliveTheParent(String by, String option) throws Exception {
        try (LockctlProcess script = script(by + " $LOCKCTL hold -u $URL " + option
                + " --max-hold 3 x >held 2>error & echo $! >pid; until grep -q held held; do sleep 0.1; done")) {
            assertThat(script.end().code()).isZero();
            Await.until(
                    "the hold has ended",
                    LockctlProcess.TIMEOUT,
                    () -> LockctlProcess.read(dir.resolve("error"))
                            .contains("is released after 3000 ms, as set by --max-hold"));
        }
        // Until then, the process may write into the directory that JUnit deletes.
        LockctlProcess.awaitEnd(
                List.of(Long.valueOf(LockctlProcess.read(dir.resolve("pid")).strip())));
        assertThat(LockctlProcess.read(dir.resolve("error"))).doesNotContain("has ended");
    }

    @Test
    void maxHoldLimitsTheHold() {
        try (LockctlProcess hold =
                LockctlProcess.start(dir, Map.of(), command("hold", "-u", url, "--max-hold", "1s", "x"))) {
            hold.awaitOutput("held name=x");
            long begin = System.nanoTime();
            Ended ended = hold.end();
            assertThat(ended.code()).isZero();
            assertThat(ended.err()).isEqualTo("lockctl: lock \"x\" is released after 1000 ms, as set by --max-hold\n");
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(LockctlProcess.TIMEOUT);
        }
    }
}
