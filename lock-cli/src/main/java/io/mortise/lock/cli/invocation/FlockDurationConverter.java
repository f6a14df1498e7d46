// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.time.Duration;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;

/** Converts a wait time on the command line: a duration, or a number of seconds as for {@code flock -w}. */
public final class FlockDurationConverter implements ITypeConverter<Duration> {
    private static final Pattern SECONDS = Pattern.compile("\\d+(\\.\\d{1,9})?");

    @Override
    public Duration convert(String value) {
        boolean seconds = SECONDS.matcher(value).matches();
        return new DurationConverter().convert(seconds ? "PT" + value + "S" : value);
    }
}
