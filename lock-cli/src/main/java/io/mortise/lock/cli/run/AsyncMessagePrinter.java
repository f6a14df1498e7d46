// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Prints lines for the user from a thread of its own, so that a blocked standard error delays nobody. */
final class AsyncMessagePrinter implements AutoCloseable {
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Consumer<String> to;
    private final ExecutorService writer = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "lockctl-announcer");
        thread.setDaemon(true);
        return thread;
    });

    AsyncMessagePrinter(Consumer<String> to) {
        this.to = to;
    }

    /** Never waits. */
    void say(String line) {
        writer.execute(() -> to.accept(line));
    }

    /** Waits a little until all is written. */
    @Override
    public void close() {
        writer.shutdown();
        try {
            writer.awaitTermination(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
