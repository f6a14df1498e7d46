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

/** The test's end of the pipe to a holder process. */
final class HolderPipe {
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);
    private static final Duration FOR_EVER = Duration.ofDays(365);
    private static final int CLOCK_QUESTIONS = 10;

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

    /** Completes when it is connected and its clock is known. */
    CompletableFuture<@Nullable Void> ready() {
        return ready;
    }

    /** Completes when all that it said has been read, and it will say no more. */
    CompletableFuture<@Nullable Void> ended() {
        return ended;
    }

    /** Sends a command once it is ready. Fails if the process ends before it has answered. */
    CompletableFuture<String> tell(String command) {
        long id = commandIds.incrementAndGet();
        CompletableFuture<String> answer = new CompletableFuture<>();
        commands.put(id, answer);
        ended.thenRun(() -> answer.completeExceptionally(exitFailure())); // if it had ended before
        ready.thenRun(() -> send(id + " " + command));
        return answer;
    }

    private IllegalStateException exitFailure() {
        return new IllegalStateException(process + " has ended; it said last: " + jvm.lastLines());
    }

    private void send(String line) {
        try {
            jvm.writeLine(line);
        } catch (UncheckedIOException e) {
            // The process has ended, and its end is read as well.
        }
    }

    private void read() {
        try {
            while (true) {
                heard(jvm.nextLine(FOR_EVER));
            }
        } catch (IllegalStateException | IllegalArgumentException | InterruptedException e) {
            ready.completeExceptionally(exitFailure());
            commands.values().forEach(command -> command.completeExceptionally(exitFailure()));
            ended.complete(null);
        }
    }

    private void heard(String line) throws InterruptedException {
        String[] words = line.split(" ", 3);
        if (line.startsWith(HolderProtocol.EVENT)) {
            history.record(EventFormat.read(line.substring(HolderProtocol.EVENT.length()), offset.toHere()));
        } else if (line.startsWith(HolderProtocol.WRITE)) {
            write(line.split(" ", -1));
        } else if (line.startsWith(HolderProtocol.DONE)) {
            command(words[1]).complete(words[2]);
        } else if (line.startsWith(HolderProtocol.FAILED)) {
            command(words[1])
                    .completeExceptionally(new IllegalStateException(process + ": " + HolderMain.decode(words[2])));
        } else if (line.equals(HolderProtocol.READY)) {
            askClock();
            ready.complete(null);
        } // else a line of its log
    }

    /** It has no commands yet, so it says nothing else meanwhile. */
    private void askClock() {
        for (int i = 0; i < CLOCK_QUESTIONS; i++) {
            long asked = history.now();
            send(HolderProtocol.CLOCK);
            String answer = jvm.awaitLine(line -> line.startsWith(HolderProtocol.CLOCK), ANSWER_LIMIT);
            offset.answered(asked, Long.parseLong(answer.substring(HolderProtocol.CLOCK.length())), history.now());
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
