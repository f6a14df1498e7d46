// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Rejects out-of-range command-line values with a message that states the value and the limit. */
record OptionValueValidator(CommandSpec command) {
    int wholeNumber(String option, String given, int min, int max) {
        try {
            int value = Integer.parseInt(given);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // rejected below
        }
        throw rejected(option, given, "a whole number from " + min + " to " + max);
    }

    double seconds(String option, String given, double min, double max) {
        try {
            double value = Double.parseDouble(given);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // rejected below
        }
        throw rejected(option, given, "a number of seconds from " + min + " to " + max);
    }

    /** Rejects the first given value that is not in {@code known}. */
    void known(String option, List<String> given, List<String> known) {
        for (String value : given) {
            if (!known.contains(value)) {
                throw rejected(option, value, "one of " + String.join(", ", known));
            }
        }
    }

    /** Rejects a path that cannot be written, so that the run does not fail at its end. */
    void writable(String option, Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file) || folder == null || !Files.isWritable(folder)) {
            throw rejected(option, file, "a file in an existing, writable directory");
        }
    }

    private ParameterException rejected(String option, Object value, String limit) {
        return new ParameterException(command.commandLine(), option + " is " + value + ", must be " + limit);
    }
}
