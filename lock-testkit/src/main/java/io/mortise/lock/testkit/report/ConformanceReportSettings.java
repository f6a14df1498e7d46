// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Settings of a run of the kit, from JUnit's configuration parameters or system properties.
 *
 * @param directory where the reports are written; empty if the run writes none
 * @param strict whether a rule that was not checked, and is not accepted by name, fails the run
 * @param accepted what may stay unchecked, in lower case: names of rules such as s08, of hooks such as link, or of tests
 */
public record ConformanceReportSettings(Optional<Path> directory, boolean strict, Set<String> accepted) {
    /** Setting with the directory of the reports; {@code none} for no reports. Default: {@code target/lock-conformance}. */
    public static final String REPORT = "mortise.kit.report";

    static final String STRICT = "mortise.kit.strict";
    static final String ACCEPT = "mortise.kit.accept";

    /** The default directory. */
    public static final Path DEFAULT_DIRECTORY = Path.of("target", "lock-conformance");

    /** Reads the settings. */
    public static ConformanceReportSettings read(Function<String, Optional<String>> parameter) {
        String directory = parameter.apply(REPORT).orElse(DEFAULT_DIRECTORY.toString());
        return new ConformanceReportSettings(
                directory.equals("none") ? Optional.empty() : Optional.of(Path.of(directory)),
                parameter.apply(STRICT).map(Boolean::parseBoolean).orElse(false),
                Arrays.stream(parameter.apply(ACCEPT).orElse("").split(",", -1))
                        .map(name -> name.strip().toLowerCase(Locale.ROOT))
                        .filter(name -> !name.isEmpty())
                        .collect(Collectors.toUnmodifiableSet()));
    }
}
