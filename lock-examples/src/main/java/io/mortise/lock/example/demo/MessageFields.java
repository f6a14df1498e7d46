// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Parses the {@code name=value} fields of a worker's message. */
final class MessageFields {
    private final String line;
    private final Map<String, String> values = new HashMap<>();

    MessageFields(String line) {
        this.line = line;
        for (String field : line.split(" ", -1)) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                // Keeps the first value of a name, since free text at the end of a line may look like fields.
                values.putIfAbsent(field.substring(0, equals), field.substring(equals + 1));
            }
        }
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no " + name + " in \"" + line + "\"");
        }
        return value;
    }

    int integer(String name) {
        return Math.toIntExact(number(name));
    }

    long number(String name) {
        try {
            return Long.parseLong(text(name));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is not a number in \"" + line + "\"", e);
        }
    }

    /** Returns a number, or empty for {@code -}, which stands for no token in runs without the lock. */
    OptionalLong optional(String name) {
        return text(name).equals("-") ? OptionalLong.empty() : OptionalLong.of(number(name));
    }

    static String show(OptionalLong value) {
        return value.isPresent() ? Long.toString(value.getAsLong()) : "-";
    }
}
