// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.spi.support.DurationParser;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a duration on the command line, such as {@code 5s} or {@code PT5S}. */
public final class DurationConverter implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
        try {
            return DurationParser.parse(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("is " + value + ", must be " + e.getMessage());
        }
    }
}
