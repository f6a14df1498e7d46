// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.ChildJvm;
import java.io.IOException;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how a process ends: shutdown hooks run only if the JVM shuts down normally. */
class ProcessExitTest {
    private static final Map<String, String> ARCHIVE = Map.of("lockctl.archive.at.exit", "true");
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** A process that exits through {@link ProcessExit}. */
    static final class Main {
        private Main() {}

        /**
         * Exits with the code in the second argument.
         *
         * @param args whether a thread shall be in native code, and the exit code
         */
        public static void main(String[] args) throws Exception {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("JVM shutdown")));
            if (Boolean.parseBoolean(args[0])) {
                listen();
            }
            System.out.print("last output");
            ProcessExit.with(Integer.parseInt(args[1]));
        }

        private static void listen() throws IOException {
            Selector selector = Selector.open();
            Thread thread = new Thread(() -> select(selector));
            thread.setDaemon(true);
            thread.start();
            while (thread.getStackTrace().length == 0 || !thread.getStackTrace()[0].isNativeMethod()) {
                Thread.onSpinWait();
            }
        }

        private static void select(Selector selector) {
            try {
                selector.select();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A process whose JVM is already shutting down, as after a signal. */
    static final class ShuttingDownMain {
        private ShuttingDownMain() {}

        /** Exits with 7, unless the later {@link ProcessExit} overrides that. */
        public static void main(String[] args) throws Exception {
            CountDownLatch hookRuns = new CountDownLatch(1);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                hookRuns.countDown();
                LockSupport.parkNanos(500_000_000); // time for ProcessExit to override the code
            }));
            Main.listen();
            new Thread(() -> System.exit(7)).start();
            hookRuns.await();
            ProcessExit.with(3);
        }
    }

    @Test
    void aShutdownInProgressIsNotOverridden() {
        try (ChildJvm jvm = ChildJvm.start(ShuttingDownMain.class, Map.of(), List.of())) {
            assertThat(jvm.awaitExit(TIMEOUT)).isEqualTo(7);
        }
    }

    private static String lastLines(boolean inNativeCode, int code, Map<String, String> properties) {
        try (ChildJvm jvm = ChildJvm.start(
                Main.class, properties, List.of(Boolean.toString(inNativeCode), Integer.toString(code)))) {
            assertThat(jvm.awaitExit(TIMEOUT)).isEqualTo(code);
            jvm.close();
            return jvm.lastLines();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void doesNotWaitForThreadsInNativeCode(int code) {
        assertThat(lastLines(true, code, Map.of())).contains("last output").doesNotContain("JVM shutdown");
    }

    @Test
    void withoutThreadsInNativeCodeTheJvmShutsDownNormally() {
        assertThat(lastLines(false, 3, Map.of())).contains("last output", "JVM shutdown");
    }

    @Test
    void aJvmThatWritesAClassArchiveShutsDownNormally() {
        assertThat(lastLines(true, 0, ARCHIVE)).contains("last output", "JVM shutdown");
    }

    @Test
    void aCommandThatFailedWritesNoClassArchive() {
        assertThat(lastLines(false, 69, ARCHIVE)).contains("last output").doesNotContain("JVM shutdown");
    }
}
