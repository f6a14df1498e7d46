// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses what was given on the command line, with the value and the limit. */
record CommandLineLimits(CommandSpec command) {
    int wholeNumber(String option, String given, int least, int most) {
        try {
            int value = Integer.parseInt(given);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // the same message serves
        }
        throw refused(option, given, "a whole number from " + least + " to " + most);
    }

    double seconds(String option, String given, double least, double most) {
        try {
            double value = Double.parseDouble(given);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // the same message serves
        }
        throw refused(option, given, "a number of seconds from " + least + " to " + most);
    }

    /** Refuses the first of them that is not known. */
    void known(String option, List<String> given, List<String> known) {
        for (String value : given) {
            if (!known.contains(value)) {
                throw refused(option, value, "one of " + String.join(", ", known));
            }
        }
    }

    /** Refuses what cannot become a file: found out before the run, not at its end. */
    void writable(String option, Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file) || folder == null || !Files.isWritable(folder)) {
            throw refused(option, file, "a file in a folder that exists and can be written to");
        }
    }

    private ParameterException refused(String option, Object value, String limit) {
        return new ParameterException(command.commandLine(), option + " is " + value + ", must be " + limit);
    }
}
