// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Prints messages for the user on a separate thread, so that a blocked standard error never delays the caller. */
final class AsyncMessagePrinter implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Consumer<String> output;
    private final ExecutorService writer = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "lockctl-announcer");
        thread.setDaemon(true);
        return thread;
    });

    AsyncMessagePrinter(Consumer<String> output) {
        this.output = output;
    }

    /** Queues a line for printing, without waiting. */
    void print(String line) {
        writer.execute(() -> output.accept(line));
    }

    /** Waits for a limited time until all lines are written. */
    @Override
    public void close() {
        writer.shutdown();
        try {
            writer.awaitTermination(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
