// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.event.EventRecordingLogger;
import org.slf4j.event.Level;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.SubstituteLogger;

/** A logger that records its events for a test. */
public final class RecordedLog {
    private final Queue<SubstituteLoggingEvent> events = new ArrayDeque<>();
    public final Logger logger = new EventRecordingLogger(new SubstituteLogger("recorded", events, true), events);

    /** Returns the lines of the given level and above. */
    public List<String> lines(Level least) {
        return events.stream()
                .filter(event -> event.getLevel().toInt() >= least.toInt())
                .map(event -> event.getLevel() + " "
                        + MessageFormatter.basicArrayFormat(event.getMessage(), event.getArgumentArray()))
                .toList();
    }
}
