// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations from URLs and command lines, such as {@code 500ms}, {@code 5s} or {@code PT1M30S}. */
public final class DurationParser {
    private static final Pattern SHORT = Pattern.compile("(\\d+)(ms|s|m|h)");

    private static final String MOST = "at most " + DurationLimits.LONGEST.toDays() + " days";

    private DurationParser() {}

    /**
     * Parses a duration of zero or more, and at most 36,500 days.
     *
     * @param text a whole number with a unit, such as {@code 500ms}, {@code 5s}, {@code 2m} or {@code 1h}, or a duration in ISO
     *     8601 format, such as {@code PT5S}
     * @throws IllegalArgumentException if the text is not such a duration. The message describes what is expected, without the
     *     text itself, which may be a secret
     */
    public static Duration parse(String text) {
        Duration parsed;
        try {
            parsed = read(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("a duration with its unit, such as 5s, 2m or PT5S, " + MOST, e);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException(MOST, e);
        }
        if (parsed.isNegative()) {
            throw new IllegalArgumentException("zero or more");
        }
        if (parsed.compareTo(DurationLimits.LONGEST) > 0) {
            throw new IllegalArgumentException(MOST);
        }
        return parsed;
    }

    private static Duration read(String text) {
        Matcher matcher = SHORT.matcher(text);
        if (!matcher.matches()) {
            return Duration.parse(text);
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            default -> Duration.ofHours(amount);
        };
    }
}
