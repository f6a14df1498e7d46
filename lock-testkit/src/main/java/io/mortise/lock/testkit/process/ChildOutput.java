// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the output of a child process, and keeps the last lines for error messages. */
final class ChildOutput implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ChildOutput.class);
    // Limits the memory used if the test does not read the child's output.
    private static final int MAX_UNREAD = 100_000;
    private static final int TAIL = 15;
    private static final Duration LAST_OUTPUT_LIMIT = Duration.ofSeconds(2);

    private final String name;
    private final Process process;
    private final Deque<String> unread = new ArrayDeque<>();
    private final Deque<String> tail = new ArrayDeque<>();
    // The output ends when both streams have ended, so that an error message contains the child's last lines.
    private final CountDownLatch openStreams = new CountDownLatch(2);

    ChildOutput(Process process, String name) {
        this.process = process;
        this.name = name;
        drain(process.getInputStream(), "out", this::addLine);
        drain(process.getErrorStream(), "err", this::addTail);
    }

    synchronized String awaitLine(Predicate<String> matches, Duration limit) {
        long start = System.nanoTime();
        try {
            while (true) {
                for (String line = unread.poll(); line != null; line = unread.poll()) {
                    if (matches.test(line)) {
                        return line;
                    }
                }
                long leftMillis = limit.minusNanos(System.nanoTime() - start).toMillis();
                boolean ended = openStreams.getCount() == 0;
                if (ended || leftMillis <= 0) {
                    throw new IllegalStateException(name + (ended ? " ended" : " printed no such line within " + limit)
                            + "; its last lines: " + tail);
                }
                wait(leftMillis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a line of " + name, e);
        }
    }

    /** The last lines of both streams, for an error message. */
    synchronized String lastLines() {
        return String.join("\n", tail);
    }

    private synchronized void addLine(String line) {
        if (unread.size() == MAX_UNREAD) {
            unread.remove();
        }
        unread.add(line);
        addTail(line);
        notifyAll();
    }

    private synchronized void addTail(String line) {
        if (tail.size() == TAIL) {
            tail.remove();
        }
        tail.add(line);
        log.debug("event=child-line child={} line={}", name, line);
    }

    private synchronized void end() {
        openStreams.countDown();
        notifyAll();
    }

    private void drain(InputStream stream, String label, Consumer<String> onLine) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader in =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        for (String line = in.readLine(); line != null; line = in.readLine()) {
                            onLine.accept(line);
                        }
                    } catch (IOException e) {
                        // The stream was closed by close().
                    } finally {
                        end();
                    }
                },
                name + "-" + label);
        thread.setDaemon(true);
        thread.start();
    }

    /** Reads the last output of a child that has ended, then closes the pipes, even if a grandchild keeps them open. */
    @Override
    public void close() {
        try {
            if (!openStreams.await(LAST_OUTPUT_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.debug("event=child-output-open child={}", name);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            process.getInputStream().close();
            process.getErrorStream().close();
        } catch (IOException e) {
            log.debug("event=child-output-close-failed child={} error={}", name, e.toString());
        }
    }
}
