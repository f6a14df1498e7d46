// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The messages, one per line, that a test and its {@link HolderProcess} exchange.
 *
 * <p>Each line is written by one system call, so that a killed process leaves no partial line.
 */
final class HolderProtocol {
    /** {@code ready}: the process is connected. */
    static final String READY = "ready";
    /** {@code clock NANOS}: the time of the process's clock, in reply to a line with the same word. */
    static final String CLOCK = "clock ";
    /** {@code event LINE}: an event to record in the history. */
    static final String EVENT = "event ";
    /** {@code done ID RESULT}: a command succeeded. */
    static final String DONE = "done ";
    /** {@code failed ID TEXT}: a command failed. */
    static final String FAILED = "failed ";
    /** {@code write ID TOKEN LOCK CALL}: a write to the test's resource; the reply is {@code wrote ID true|false}. */
    static final String WRITE = "write ";
    /** {@code wrote ID true|false}: the reply to {@link #WRITE}. */
    static final String WROTE = "wrote ";

    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

    synchronized void send(String line) {
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // the parent closed the pipe, and the watchdog will end this process
        }
    }
}
