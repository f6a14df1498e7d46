// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.Optional;
import java.util.OptionalLong;

/** A message from a worker process to the demo, encoded as one line. {@link #parse} is the inverse of {@link #line()}. */
sealed interface WorkerMessage {
    /** Returns the message as a line of text. */
    String line();

    /** Parses a line; empty if it is not a message but a line of the worker's log. */
    static Optional<WorkerMessage> parse(String line) {
        MessageFields fields = new MessageFields(line);
        return Optional.ofNullable(
                switch (line.split(" ", 2)[0]) {
                    case "READY" -> new Ready();
                    case "READ" -> new Read(fields.integer("stock"), fields.optional("token"));
                    case "SOLD" -> new Sold(fields.optional("token"));
                    case "REFUSED" ->
                        new Refused(
                                fields.number("token"),
                                fields.number("highest"),
                                fields.text("held").equals("true"));
                    case "DONE" -> new Done();
                    case "FAILED" -> new Failed(line.replaceFirst("^FAILED( text=)?", ""));
                    default -> null;
                });
    }

    /** The worker has started and accepts commands. */
    record Ready() implements WorkerMessage {
        @Override
        public String line() {
            return "READY";
        }
    }

    /** The worker has read the stock, under the lock if it uses one, and has not written yet. */
    record Read(int stock, OptionalLong token) implements WorkerMessage {
        @Override
        public String line() {
            return "READ stock=" + stock + " token=" + MessageFields.show(token);
        }
    }

    /** The worker's write was accepted, which completes a sale. */
    record Sold(OptionalLong token) implements WorkerMessage {
        @Override
        public String line() {
            return "SOLD token=" + MessageFields.show(token);
        }
    }

    /**
     * The stock file refused the worker's write.
     *
     * @param token fencing token of the refused write
     * @param highest highest fencing token of an accepted write
     * @param held result of {@code Lease.isHeld()} after the refusal
     */
    record Refused(long token, long highest, boolean held) implements WorkerMessage {
        @Override
        public String line() {
            return "REFUSED token=" + token + " highest=" + highest + " held=" + held;
        }
    }

    /** The worker has executed a command. */
    record Done() implements WorkerMessage {
        @Override
        public String line() {
            return "DONE";
        }
    }

    /** The worker cannot continue, for the reason given in one line. */
    record Failed(String text) implements WorkerMessage {
        @Override
        public String line() {
            return "FAILED text=" + text.replaceAll("\\R", " ");
        }
    }

    /** The worker's output has ended; the demo creates this message itself. */
    record Ended(String lastLines) implements WorkerMessage {
        @Override
        public String line() {
            return "ENDED";
        }
    }
}
