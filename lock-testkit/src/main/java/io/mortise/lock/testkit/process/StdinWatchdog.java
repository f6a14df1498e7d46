// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ends this JVM when its standard input ends. The operating system closes the pipe when the parent dies, also by
 * {@code kill -9}, so a child with this watchdog never outlives the JVM that started it.
 */
public final class StdinWatchdog {
    private StdinWatchdog() {}

    /**
     * Starts the watchdog: at the end of standard input it runs {@code atEnd} and halts the JVM, without shutdown hooks.
     *
     * @param onLine gets each line that the parent writes before that, on the watchdog's thread; if it throws, that is the end as well
     * @param atEnd last work, for example to delete the data directory; what it throws is ignored
     */
    public static void install(Consumer<String> onLine, Runnable atEnd) {
        Thread thread = new Thread(() -> watch(onLine, atEnd), "mortise-stdin-watchdog");
        thread.setDaemon(true);
        thread.start();
    }

    /** Starts the watchdog for a child that expects no input. */
    public static void install() {
        install(line -> {}, () -> {});
    }

    private static void watch(Consumer<String> onLine, Runnable atEnd) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                onLine.accept(line);
            }
        } catch (IOException e) {
            // A broken pipe is the end as well.
        } finally {
            try {
                atEnd.run();
            } finally {
                // Not exit(): a shutdown hook that hangs would keep the orphan alive.
                Runtime.getRuntime().halt(0);
            }
        }
    }
}
