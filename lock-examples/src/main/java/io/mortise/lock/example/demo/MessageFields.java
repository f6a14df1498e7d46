// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Reads {@code name=value name=value …}, the form of the inventory file and of what workers say. */
final class MessageFields {
    private final String line;
    private final Map<String, String> values = new HashMap<>();

    MessageFields(String line) {
        this.line = line;
        for (String field : line.split(" ", -1)) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                // The first of a name: free text at the end of a line may look like fields.
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

    /** {@code -} stands for none: the runs without the lock pass no token. */
    OptionalLong optional(String name) {
        return text(name).equals("-") ? OptionalLong.empty() : OptionalLong.of(number(name));
    }

    static String show(OptionalLong value) {
        return value.isPresent() ? Long.toString(value.getAsLong()) : "-";
    }
}
