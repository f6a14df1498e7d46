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
 * A child JVM with its own lock client, which a test can command, freeze and kill.
 *
 * <p>All events of the process are recorded in a {@link History}, with times of this JVM's clock. The offset between the two
 * clocks is measured over the pipe, and its uncertainty widens the {@linkplain UncertainInstant spans} of the events. Writes of
 * the process go to a {@link ProtectedResource} of this JVM. Thread-safe.
 *
 * <p>The process uses the class path of this JVM, which must contain the provider of the URL.
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
     * Starts the process and returns at once. Commands wait until the process is connected and has acquired a first lease of a
     * separate lock, which is not recorded.
     *
     * @param name name of the process in the history, not used by any other process before
     * @param url URL of the store, for {@link io.mortise.lock.connect.Locks#connect}
     * @param lease lease duration of each lock, if the backend supports PER_LOCK_LEASE
     * @param history receives the events of the process
     * @param resource the resource to which the process writes
     */
    public static HolderProcess start(
            String name, String url, Duration lease, History history, ProtectedResource resource) {
        ChildJvm jvm = ChildJvm.start(HolderMain.class, Map.of(), HolderMain.args(name, url, lease));
        return new HolderProcess(name, jvm, history, resource);
    }

    /** Returns the name of the process in the history. */
    public String name() {
        return name;
    }

    /** Acquires the lock and keeps the lease. Completes with the token, or with a hyphen without FENCING. */
    public CompletableFuture<String> acquire(String lock) {
        return pipe.execute("acquire " + HolderMain.encode(lock));
    }

    /** Calls {@code isHeld()} on the lease that the process acquired last, and completes with its result. */
    public CompletableFuture<Boolean> checkHeld(String lock) {
        return pipe.execute("check " + HolderMain.encode(lock)).thenApply(Boolean::parseBoolean);
    }

    /** Writes with the token of the last lease without checking that lease. Completes with whether the write was accepted. */
    public CompletableFuture<Boolean> write(String lock) {
        return pipe.execute("write " + HolderMain.encode(lock)).thenApply(Boolean::parseBoolean);
    }

    /** Releases the lease that the process acquired last. */
    public CompletableFuture<ReleaseOutcome> release(String lock) {
        return pipe.execute("release " + HolderMain.encode(lock)).thenApply(ReleaseOutcome::valueOf);
    }

    /** Runs a {@link RecordedAcquireLoop} until {@link #stop()}. Completes with the number of leases that were granted. */
    public CompletableFuture<Integer> work(String lock, int threads, long seed) {
        return pipe.execute("work " + HolderMain.encode(lock) + " " + threads + " " + seed)
                .thenApply(Integer::parseInt);
    }

    /**
     * Sets whether {@link #work} keeps its next lease until that lease is lost, see {@link RecordedAcquireLoop}. Completes when the
     * process has received the command.
     */
    public CompletableFuture<?> keep(boolean keep) {
        return pipe.execute("keep " + keep);
    }

    /** Ends {@link #work} after the current cycles. */
    public void stop() {
        pipe.execute("stop");
    }

    /** Freezes the process (SIGSTOP). */
    public void pause() {
        disturb(Disturbed.Kind.PAUSED, jvm::pause);
    }

    /** Resumes the process (SIGCONT). */
    public void resume() {
        disturb(Disturbed.Kind.RESUMED, jvm::resume);
    }

    /** Kills the process (SIGKILL); all events that it sent before are in the history when this returns. */
    public void kill() {
        disturb(Disturbed.Kind.KILLED, jvm::kill);
        await(pipe.ended());
    }

    /** Ends the process, paused or not, without recording that. Idempotent. */
    @Override
    public void close() {
        jvm.close();
    }

    private void disturb(Disturbed.Kind kind, Runnable fault) {
        long start = history.now();
        fault.run();
        history.disturbed(name, kind, start);
    }

    /**
     * Waits until the process is connected and its clock offset is known.
     *
     * @throws IllegalStateException if that takes longer than a minute, or the process ended; the message has its last lines
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
