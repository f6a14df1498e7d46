// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.process.ChildJvm;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Sends commands to a {@link HolderProcess} over its standard input, and reads replies and events from its output. */
final class HolderPipe {
    private static final Duration REPLY_LIMIT = Duration.ofSeconds(60);
    private static final Duration FOR_EVER = Duration.ofDays(365);
    private static final int CLOCK_REQUESTS = 10;

    private final String process;
    private final ChildJvm jvm;
    private final History history;
    private final ProtectedResource resource;
    private final ClockOffsetEstimator offset = new ClockOffsetEstimator();
    private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
    private final Map<Long, CompletableFuture<String>> commands = new ConcurrentHashMap<>();
    private final AtomicLong commandIds = new AtomicLong();

    HolderPipe(String process, ChildJvm jvm, History history, ProtectedResource resource) {
        this.process = process;
        this.jvm = jvm;
        this.history = history;
        this.resource = resource;
        Thread reader = new Thread(this::read, "mortise-holder-" + process);
        reader.setDaemon(true);
        reader.start();
    }

    /** Returns a future that completes when the process is connected and its clock offset is known. */
    CompletableFuture<@Nullable Void> ready() {
        return ready;
    }

    /** Returns a future that completes when the process has ended and all its output has been read. */
    CompletableFuture<@Nullable Void> ended() {
        return ended;
    }

    /** Sends a command once the process is ready. The future fails if the process ends before it has replied. */
    CompletableFuture<String> execute(String command) {
        long id = commandIds.incrementAndGet();
        CompletableFuture<String> reply = new CompletableFuture<>();
        commands.put(id, reply);
        ended.thenRun(() -> reply.completeExceptionally(exitFailure())); // if the process had already ended
        ready.thenRun(() -> send(id + " " + command));
        return reply;
    }

    private IllegalStateException exitFailure() {
        return new IllegalStateException(process + " has ended; its last lines: " + jvm.lastLines());
    }

    private void send(String line) {
        try {
            jvm.writeLine(line);
        } catch (UncheckedIOException e) {
            // The process has ended, and the reader thread detects that.
        }
    }

    private void read() {
        try {
            while (true) {
                onLine(jvm.nextLine(FOR_EVER));
            }
        } catch (IllegalStateException | IllegalArgumentException | InterruptedException e) {
            ready.completeExceptionally(exitFailure());
            commands.values().forEach(command -> command.completeExceptionally(exitFailure()));
            ended.complete(null);
        }
    }

    private void onLine(String line) throws InterruptedException {
        String[] words = line.split(" ", 3);
        if (line.startsWith(HolderProtocol.EVENT)) {
            history.record(EventFormat.read(line.substring(HolderProtocol.EVENT.length()), offset.toLocal()));
        } else if (line.startsWith(HolderProtocol.WRITE)) {
            write(line.split(" ", -1));
        } else if (line.startsWith(HolderProtocol.DONE)) {
            command(words[1]).complete(words[2]);
        } else if (line.startsWith(HolderProtocol.FAILED)) {
            command(words[1])
                    .completeExceptionally(new IllegalStateException(process + ": " + HolderMain.decode(words[2])));
        } else if (line.equals(HolderProtocol.READY)) {
            measureClockOffset();
            ready.complete(null);
        } // else the line is log output
    }

    /** Called before the process has any command, so no other message can arrive in between. */
    private void measureClockOffset() {
        for (int i = 0; i < CLOCK_REQUESTS; i++) {
            long sent = history.now();
            send(HolderProtocol.CLOCK);
            String reply = jvm.awaitLine(line -> line.startsWith(HolderProtocol.CLOCK), REPLY_LIMIT);
            offset.onReply(sent, Long.parseLong(reply.substring(HolderProtocol.CLOCK.length())), history.now());
        }
    }

    private void write(String[] words) throws InterruptedException {
        AcquireCallId call = new AcquireCallId(process, HolderMain.decode(words[3]), Long.parseLong(words[4]));
        send(HolderProtocol.WROTE + words[1] + " " + resource.write(call, Long.parseLong(words[2])));
    }

    private CompletableFuture<String> command(String id) {
        CompletableFuture<String> command = commands.remove(Long.parseLong(id));
        return command == null ? new CompletableFuture<>() : command;
    }
}
