// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.Optional;
import java.util.OptionalLong;

/** Message from a worker process to the demo, written as one line. {@link #line()} and {@link #parse} are inverse. */
sealed interface WorkerMessage {
    String line();

    /** Empty: not of the protocol, a line of the worker's log. */
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
                    case "FAILED" -> new Failed(line.substring(line.indexOf(" text=") + " text=".length()));
                    default -> null;
                });
    }

    /** The worker has started and takes commands. */
    record Ready() implements WorkerMessage {
        @Override
        public String line() {
            return "READY";
        }
    }

    /** It has read the file, with the lock if it uses one, and has not written yet. */
    record Read(int stock, OptionalLong token) implements WorkerMessage {
        @Override
        public String line() {
            return "READ stock=" + stock + " token=" + MessageFields.show(token);
        }
    }

    /** Its write was accepted: the sale is acknowledged. */
    record Sold(OptionalLong token) implements WorkerMessage {
        @Override
        public String line() {
            return "SOLD token=" + MessageFields.show(token);
        }
    }

    /**
     * The file refused its write.
     *
     * @param held what {@code Lease.isHeld()} said after that
     */
    record Refused(long token, long highest, boolean held) implements WorkerMessage {
        @Override
        public String line() {
            return "REFUSED token=" + token + " highest=" + highest + " held=" + held;
        }
    }

    /** The command is carried out. */
    record Done() implements WorkerMessage {
        @Override
        public String line() {
            return "DONE";
        }
    }

    /** It cannot go on; why, in one line. */
    record Failed(String text) implements WorkerMessage {
        @Override
        public String line() {
            return "FAILED text=" + text.replaceAll("\\R", " ");
        }
    }

    /** Said for it: its output has ended. */
    record Ended(String lastLines) implements WorkerMessage {
        @Override
        public String line() {
            return "ENDED";
        }
    }
}
