// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A worker stopped in its tracks (SIGSTOP) until this is closed. A stopped process cannot see that the demo is gone, so a
 * small shell watches over it: it wakes the worker when the demo ends, however that ends.
 */
final class Freeze implements AutoCloseable {
    private final Worker worker;
    private final Process guard;

    Freeze(Worker worker) throws IOException {
        this.worker = worker;
        this.guard = new ProcessBuilder("sh", "-c", "read -r _; kill -CONT \"$0\"", Long.toString(worker.pid()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        worker.pause();
    }

    @Override
    public void close() throws IOException {
        worker.resume();
        guard.getOutputStream().close();
        try {
            guard.waitFor(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        guard.destroyForcibly();
    }
}
