// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Halts this JVM when its standard input ends, so that a child JVM never outlives its parent.
 *
 * <p>The operating system closes the pipe when the parent dies, even by {@code kill -9}.
 */
public final class StdinWatchdog {
    private StdinWatchdog() {}

    /**
     * Starts the watchdog, which runs {@code atEnd} at the end of standard input and then halts the JVM without shutdown hooks.
     *
     * @param onLine receives each line that the parent writes, on the watchdog's thread; an exception also halts the JVM
     * @param atEnd final action, for example to delete the data directory; its exceptions are ignored
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
            // A broken pipe counts as the end of input.
        } finally {
            try {
                atEnd.run();
            } finally {
                // Not exit(): a shutdown hook that hangs would keep this process alive.
                Runtime.getRuntime().halt(0);
            }
        }
    }
}
