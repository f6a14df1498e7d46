// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;

/**
 * The lock events of a test, in the order in which they were recorded.
 *
 * <p>Times are {@code System.nanoTime} of this JVM, counted from zero; times of other processes are {@linkplain HolderProcess
 * converted to it}. Thread-safe. Keeps all events, about 100 bytes each.
 */
public final class History implements HistoryRecorder {
    private final long origin = System.nanoTime();
    private final List<HistoryEvent> events = new ArrayList<>(); // guarded by this

    /** Creates an empty history that begins now. */
    public History() {}

    /**
     * Parses a history that {@link #lines()} formatted. Its clock is a different one, so it can be read and checked but not
     * continued.
     */
    public static History of(List<String> lines) {
        History history = new History();
        lines.forEach(line -> history.record(HistoryEvent.parse(line)));
        return history;
    }

    @Override
    public long now() {
        return System.nanoTime() - origin;
    }

    @Override
    public synchronized void record(HistoryEvent event) {
        events.add(event);
    }

    /** Records that a process was disturbed between {@code start}, a value of {@link #now()}, and now. */
    public void disturbed(String process, HistoryEvent.Disturbed.Kind kind, long start) {
        record(new HistoryEvent.Disturbed(process, since(start), kind));
    }

    /** Returns all events recorded so far. */
    public synchronized List<HistoryEvent> events() {
        return List.copyOf(events);
    }

    /** Returns {@link #events()} as text, which can be stored with a test failure. */
    public List<String> lines() {
        return events().stream().map(HistoryEvent::line).toList();
    }
}
