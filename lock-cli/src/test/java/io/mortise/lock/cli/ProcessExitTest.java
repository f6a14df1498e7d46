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

/** Java alone runs shutdown hooks: whether they ran tells how a process ended. */
class ProcessExitTest {
    private static final Map<String, String> ARCHIVE = Map.of("lockctl.archive.at.exit", "true");
    private static final Duration SOON = Duration.ofSeconds(30);

    /** A process that ends. */
    static final class Main {
        private Main() {}

        /** Takes whether a thread is to be in native code, and the exit code. */
        public static void main(String[] args) throws Exception {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("ended by Java")));
            if (Boolean.parseBoolean(args[0])) {
                listen();
            }
            System.out.print("the last word");
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

    /** A process that something else, such as a signal, has begun to end. */
    static final class Ending {
        private Ending() {}

        /** Ends by 7, unless what comes later overtakes that. */
        public static void main(String[] args) throws Exception {
            CountDownLatch hookRuns = new CountDownLatch(1);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                hookRuns.countDown();
                LockSupport.parkNanos(500_000_000); // time to be overtaken in
            }));
            Main.listen();
            new Thread(() -> System.exit(7)).start();
            hookRuns.await();
            ProcessExit.with(3);
        }
    }

    @Test
    void anEndThatHasBegunIsNotOvertaken() {
        try (ChildJvm jvm = ChildJvm.start(Ending.class, Map.of(), List.of())) {
            assertThat(jvm.awaitExit(SOON)).isEqualTo(7);
        }
    }

    private static String lastLines(boolean inNativeCode, int code, Map<String, String> properties) {
        try (ChildJvm jvm = ChildJvm.start(
                Main.class, properties, List.of(Boolean.toString(inNativeCode), Integer.toString(code)))) {
            assertThat(jvm.awaitExit(SOON)).isEqualTo(code);
            jvm.close();
            return jvm.lastLines();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void threadsInNativeCodeAreNotWaitedFor(int code) {
        assertThat(lastLines(true, code, Map.of())).contains("the last word").doesNotContain("ended by Java");
    }

    @Test
    void whereNoneIsJavaEndsTheProcess() {
        assertThat(lastLines(false, 3, Map.of())).contains("the last word", "ended by Java");
    }

    @Test
    void whereJavaWritesAClassArchiveItEndsTheProcess() {
        assertThat(lastLines(true, 0, ARCHIVE)).contains("the last word", "ended by Java");
    }

    @Test
    void aCommandThatFailedWritesNoClassArchive() {
        assertThat(lastLines(false, 69, ARCHIVE)).contains("the last word").doesNotContain("ended by Java");
    }
}
