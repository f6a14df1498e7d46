// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import io.mortise.lock.internal.DurationLimits;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats durations as people write them in URLs and on command lines, such as {@code 1m30s}. */
public final class DurationParser {
    private static final Pattern SHORT = Pattern.compile("(\\d+)(ms|s|m|h)");

    private static final String MOST = "at most " + DurationLimits.LONGEST.toDays() + " days";

    private DurationParser() {}

    /**
     * {@code 500ms}, {@code 5s}, {@code 2m}, {@code 1h} or {@code PT5S}; zero or more, at most 36,500 days.
     *
     * @throws IllegalArgumentException its message says what it must be, without the text itself, which may be a secret
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
