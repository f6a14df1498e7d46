// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import io.mortise.lock.testkit.process.ChildJvm;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A child JVM with a client of its own, which can be frozen and killed. All that it sees goes into a {@link History}, in the
 * time of this JVM: the difference of the two clocks is found by asking it over the pipe, and what remains unknown of it
 * widens the {@linkplain UncertainInstant spans} of its events. Its writes go to a {@link ProtectedResource} of this JVM. Thread-safe.
 *
 * <p>It has no class path of its own: the provider of the URL must be on this JVM's.
 */
public final class HolderProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final ChildJvm jvm;
    private final History history;
    private final HolderPipe pipe;

    private HolderProcess(String name, ChildJvm jvm, History history, ProtectedResource resource) {
        this.name = name;
        this.jvm = jvm;
        this.history = history;
        this.pipe = new HolderPipe(name, jvm, history, resource);
    }

    /**
     * Starts it and returns at once; commands wait until it is connected and has had a first lease, of a lock of its own,
     * which is not recorded.
     *
     * @param name its name in the history; no other process has it, nor had it before
     * @param url of the store, for {@link io.mortise.lock.connect.Locks#connect}
     * @param lease the duration of its leases, where they have one for each lock
     * @param resource what it writes to
     */
    public static HolderProcess start(
            String name, String url, Duration lease, History history, ProtectedResource resource) {
        ChildJvm jvm = ChildJvm.start(HolderMain.class, Map.of(), HolderMain.args(name, url, lease));
        return new HolderProcess(name, jvm, history, resource);
    }

    /** Its name in the history. */
    public String name() {
        return name;
    }

    /** Acquires the lock, which it then holds. Completes with the token, or a hyphen without FENCING. */
    public CompletableFuture<String> acquire(String lock) {
        return pipe.tell("acquire " + HolderMain.encode(lock));
    }

    /** What {@code isHeld()} says of the lease that it acquired last. */
    public CompletableFuture<Boolean> checkHeld(String lock) {
        return pipe.tell("check " + HolderMain.encode(lock)).thenApply(Boolean::parseBoolean);
    }

    /** Writes with the token of the lease that it acquired last, without checking it. Completes with whether it was accepted. */
    public CompletableFuture<Boolean> write(String lock) {
        return pipe.tell("write " + HolderMain.encode(lock)).thenApply(Boolean::parseBoolean);
    }

    /** Releases the lease that it acquired last. */
    public CompletableFuture<ReleaseOutcome> release(String lock) {
        return pipe.tell("release " + HolderMain.encode(lock)).thenApply(ReleaseOutcome::valueOf);
    }

    /** Runs {@link HistoryWorkload} until {@link #stop()}. Completes with how many leases it had. */
    public CompletableFuture<Integer> work(String lock, int threads, long seed) {
        return pipe.tell("work " + HolderMain.encode(lock) + " " + threads + " " + seed)
                .thenApply(Integer::parseInt);
    }

    /** Whether {@link #work} keeps its next lease until that is lost, as {@link HistoryWorkload} says; completes when it knows. */
    public CompletableFuture<?> keep(boolean keep) {
        return pipe.tell("keep " + keep);
    }

    /** Ends {@link #work} after the cycles that are under way. */
    public void stop() {
        pipe.tell("stop");
    }

    /** Freezes it (SIGSTOP). */
    public void pause() {
        disturb(Disturbed.Kind.PAUSED, jvm::pause);
    }

    /** Lets it go on (SIGCONT). */
    public void resume() {
        disturb(Disturbed.Kind.RESUMED, jvm::resume);
    }

    /** Kills it (SIGKILL); what it said before is in the history when this returns. */
    public void kill() {
        disturb(Disturbed.Kind.KILLED, jvm::kill);
        await(pipe.ended());
    }

    /** Ends it, paused or not; a part of no history. Idempotent. */
    @Override
    public void close() {
        jvm.close();
    }

    private void disturb(Disturbed.Kind kind, Runnable blow) {
        long start = history.now();
        blow.run();
        history.disturbed(name, kind, start);
    }

    /**
     * Waits until it is connected and its clock is known.
     *
     * @throws IllegalStateException if that takes longer than a minute, or it ended; it names its last lines
     */
    public void awaitReady() {
        await(pipe.ready());
    }

    private void await(CompletableFuture<?> stage) {
        try {
            stage.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException(name + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + name, e);
        }
    }
}
