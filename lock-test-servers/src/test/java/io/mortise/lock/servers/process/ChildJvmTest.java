// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestProcess;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.process.ChildJvm;
import io.mortise.lock.testkit.process.ProcessState;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** Prints its arguments, echoes its input, and starts a server or a paused child on command. */
    static final class Echo {
        public static void main(String[] args) throws InterruptedException {
            StdinWatchdog.install(Echo::line, () -> {});
            System.out.println("hello " + String.join(",", args) + " " + System.getProperty("colour"));
            Thread.currentThread().join();
        }

        private static void line(String line) {
            if (line.equals("server")) {
                System.out.println("server " + ZooKeeperTestProcess.start().pid());
            } else if (line.equals("frozen")) {
                ChildJvm child = echo();
                child.pause();
                System.out.println("frozen " + child.pid());
            } else {
                System.out.println("echo " + line);
            }
        }
    }

    /** Fails unless its argument is a number. */
    static final class Failing {
        public static void main(String[] args) {
            Integer.parseInt(args[0]);
        }
    }

    private static ChildJvm echo() {
        ChildJvm child = ChildJvm.start(Echo.class, Map.of("colour", "red"), List.of("a", "b c"));
        assertThat(child.nextLine(LIMIT)).isEqualTo("hello a,b c red");
        return child;
    }

    @Test
    void child_getsArgumentsPropertiesAndInput() {
        try (ChildJvm child = echo()) {
            child.writeLine("one");
            child.writeLine("two");
            assertThat(child.awaitLine(line -> line.endsWith("two"), LIMIT)).isEqualTo("echo two");
        }
    }

    @Test
    void pausedChild_doesNotReply_untilResumed() {
        try (ChildJvm child = echo()) {
            child.pause();
            child.writeLine("one");
            assertThatThrownBy(() -> child.nextLine(Duration.ofMillis(200))).isInstanceOf(IllegalStateException.class);
            assertThat(child.isAlive()).isTrue();
            child.resume();
            assertThat(child.nextLine(LIMIT)).isEqualTo("echo one");
        }
    }

    /** Holds even on a busy machine, where the signal takes a while. */
    @Test
    void pause_isInEffectWhenItReturns() {
        try (ChildJvm child = echo()) {
            for (int i = 0; i < 50; i++) {
                child.pause();
                assertThat(ProcessState.isStopped(child.pid()))
                        .as("pause %s", i)
                        .isTrue();
                child.resume();
                child.writeLine("one");
                assertThat(child.nextLine(LIMIT)).isEqualTo("echo one");
                assertThat(ProcessState.isStopped(child.pid()))
                        .as("resume %s", i)
                        .isFalse();
            }
        }
    }

    @Test
    void kill_endsTheChild_evenIfPaused() {
        try (ChildJvm child = echo()) {
            child.pause();
            child.kill();
            assertThat(child.isAlive()).isFalse();
            assertThat(child.awaitExit(LIMIT)).isEqualTo(128 + 9);
        }
    }

    @Test
    void watchdog_endsTheChild_whenItsInputEnds() {
        try (ChildJvm child = echo()) {
            child.closeStdin();
            assertThat(child.awaitExit(LIMIT)).isZero();
        }
    }

    @Test
    void watchdog_leavesNoServer_whenItsParentIsKilled() throws Exception {
        try (ChildJvm parent = echo()) {
            parent.writeLine("server");
            String line = parent.awaitLine(any -> any.startsWith("server "), LIMIT);
            ProcessHandle server =
                    ProcessHandle.of(Long.parseLong(line.substring(7))).orElseThrow();
            parent.kill();
            Await.until("the server ended", LIMIT, () -> ProcessState.hasEnded(server.pid()));
        }
    }

    @Test
    void pausedChild_endsWithItsParent() {
        try (ChildJvm parent = echo()) {
            parent.writeLine("frozen");
            String line = parent.awaitLine(any -> any.startsWith("frozen "), LIMIT);
            ProcessHandle child =
                    ProcessHandle.of(Long.parseLong(line.substring(7))).orElseThrow();
            assertThat(ProcessState.isStopped(child.pid())).isTrue();
            // As when a signal ends a whole process group: the guard process survives that.
            List<ProcessHandle> guards = ProcessHandle.of(parent.pid())
                    .orElseThrow()
                    .children()
                    .filter(other -> !other.equals(child))
                    .toList();
            assertThat(guards).hasSize(1).allMatch(ProcessHandle::destroy);
            parent.kill();
            Await.until("the child ended", LIMIT, () -> ProcessState.hasEnded(child.pid()));
        }
    }

    @Test
    void pauseAndResume_areIdempotent() {
        try (ChildJvm child = echo()) {
            child.pause();
            child.pause();
            child.resume();
            assertThat(ProcessState.isStopped(child.pid())).isFalse();
            child.resume();
            child.writeLine("one");
            assertThat(child.nextLine(LIMIT)).isEqualTo("echo one");
        }
    }

    @Test
    void kill_keepsTheOutputUntilThen() {
        try (ChildJvm child = echo()) {
            child.writeLine("one");
            child.writeLine("two");
            Await.until(
                    "the child has printed both lines",
                    LIMIT,
                    () -> child.lastLines().contains("echo two"));
            child.kill();
            assertThat(child.nextLine(LIMIT)).isEqualTo("echo one");
            assertThat(child.nextLine(LIMIT)).isEqualTo("echo two");
            assertThatThrownBy(() -> child.nextLine(LIMIT)).hasMessageContaining("ended");
        }
    }

    @Test
    void deadChild_isReportedWithItsLastLines() {
        try (ChildJvm child = ChildJvm.start(Failing.class, Map.of(), List.of("no luck"))) {
            assertThat(child.awaitExit(LIMIT)).isEqualTo(1);
            assertThatThrownBy(() -> child.nextLine(LIMIT))
                    .hasMessageContaining("ended")
                    .hasMessageContaining("no luck");
        }
    }

    @Test
    void tempDir_isDeletedWithItsContent() throws Exception {
        TempDir dir = TempDir.create("test");
        Files.createDirectories(dir.path().resolve("a/b"));
        Files.writeString(dir.path().resolve("a/b/c"), "x");
        dir.close();
        assertThat(dir.path()).doesNotExist();
    }
}
