// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Recorded events, in the order in which they became known. Its clock is this JVM's {@code System.nanoTime}, from zero; events
 * of other processes are {@linkplain HolderProcess brought to it}. Thread-safe; it keeps all events, some 100 bytes each.
 */
public final class History implements EventRecorder {
    private final long origin = System.nanoTime();
    private final List<HistoryEvent> events = new ArrayList<>(); // guarded by this

    /** An empty history that begins now. */
    public History() {}

    /** The history that {@link #lines()} wrote. Its clock is another, so that only reading and checking make sense. */
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

    /** Records that this was done to the process: from {@code start} by {@link #now()} until now. */
    public void disturbed(String process, HistoryEvent.Disturbed.Kind kind, long start) {
        record(new HistoryEvent.Disturbed(process, since(start), kind));
    }

    /** All that has been recorded so far. */
    public synchronized List<HistoryEvent> events() {
        return List.copyOf(events);
    }

    /** {@link #events()} as text, to be kept with a failure. */
    public List<String> lines() {
        return events().stream().map(HistoryEvent::line).toList();
    }
}
