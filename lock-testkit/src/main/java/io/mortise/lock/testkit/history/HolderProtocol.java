// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Words of the line protocol between a test and its holder process. A line is one write, so that a process that is killed
 * leaves no half of one.
 */
final class HolderProtocol {
    /** {@code ready}: connected. */
    static final String READY = "ready";
    /** {@code clock NANOS}: its clock, asked for with the same word. */
    static final String CLOCK = "clock ";
    /** {@code event LINE}. */
    static final String EVENT = "event ";
    /** {@code done ID RESULT}: a command is carried out. */
    static final String DONE = "done ";
    /** {@code failed ID TEXT}: or it is not. */
    static final String FAILED = "failed ";
    /** {@code write ID TOKEN LOCK ASK}: asks the resource; answered by {@code wrote ID true|false}. */
    static final String WRITE = "write ";
    /** See {@link #WRITE}. */
    static final String WROTE = "wrote ";

    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

    synchronized void say(String line) {
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // the other end was closed, and the watchdog ends this process
        }
    }
}
