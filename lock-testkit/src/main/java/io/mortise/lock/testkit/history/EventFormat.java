// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** Formats history events as lines of text, and parses them. */
final class EventFormat {
    private static final String NONE = "-";

    private EventFormat() {}

    static String write(HistoryEvent event) {
        String who = encode(event.process());
        if (event instanceof HistoryEvent.OfCall of) {
            who += " " + encode(of.call().lock()) + " " + of.call().number();
        }
        String head =
                kind(event) + " " + event.at().earliest() + " " + event.at().latest() + " " + who;
        return event instanceof HistoryEvent.Releasing ? head : head + " " + detail(event);
    }

    /**
     * Parses one line.
     *
     * @param offset how far the history's clock is ahead of the clock of the process that wrote the line
     */
    static HistoryEvent read(String line, UncertainInstant offset) {
        try {
            String[] words = line.split(" ", -1);
            UncertainInstant at = new UncertainInstant(Long.parseLong(words[1]), Long.parseLong(words[2])).plus(offset);
            String process = decode(words[3]);
            if (words[0].equals("disturbed")) {
                return new Disturbed(process, at, Disturbed.Kind.valueOf(words[4]));
            }
            AcquireCallId call = new AcquireCallId(process, decode(words[4]), Long.parseLong(words[5]));
            return switch (words[0]) {
                case "requested" ->
                    new HistoryEvent.Requested(
                            call, at, optional(words[6]).map(Long::parseLong).map(Duration::ofNanos));
                case "granted" ->
                    new HistoryEvent.Granted(
                            call,
                            at,
                            words[6].equals(NONE) ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(words[6])));
                case "checked" -> new HistoryEvent.Checked(call, at, words[6].equals("held"));
                case "lossreported" -> new HistoryEvent.LossReported(call, at, decode(words[6]));
                case "releasing" -> new HistoryEvent.Releasing(call, at);
                case "released" -> new HistoryEvent.Released(call, at, ReleaseOutcome.valueOf(words[6]));
                case "gave-up" -> new HistoryEvent.GaveUp(call, at, optional(words[6]));
                case "wrote" -> new HistoryEvent.Wrote(call, at, Long.parseLong(words[6]), words[7].equals("accepted"));
                default -> throw new IllegalArgumentException("unknown event kind " + words[0]);
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            throw new IllegalArgumentException("not an event: \"" + line + "\"", e);
        }
    }

    private static String kind(HistoryEvent event) {
        return event instanceof HistoryEvent.GaveUp
                ? "gave-up"
                : event.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    private static String detail(HistoryEvent event) {
        if (event instanceof HistoryEvent.Requested requested) {
            return requested
                    .limit()
                    .map(limit -> Long.toString(limit.toNanos()))
                    .orElse(NONE);
        } else if (event instanceof HistoryEvent.Granted granted) {
            return granted.token().isPresent() ? Long.toString(granted.token().getAsLong()) : NONE;
        } else if (event instanceof HistoryEvent.Checked checked) {
            return checked.held() ? "held" : "not-held";
        } else if (event instanceof HistoryEvent.LossReported lossReported) {
            return encode(lossReported.reason());
        } else if (event instanceof HistoryEvent.Released released) {
            return released.outcome().name();
        } else if (event instanceof HistoryEvent.GaveUp gaveUp) {
            return gaveUp.failure().map(EventFormat::encode).orElse(NONE);
        } else if (event instanceof HistoryEvent.Wrote wrote) {
            return wrote.token() + (wrote.accepted() ? " accepted" : " refused");
        } else if (event instanceof Disturbed disturbed) {
            return disturbed.kind().name();
        }
        throw new IllegalArgumentException(event.toString());
    }

    private static Optional<String> optional(String word) {
        return word.equals(NONE) ? Optional.empty() : Optional.of(decode(word));
    }

    /** A lone hyphen is escaped as well: it encodes an absent value. */
    private static String encode(String text) {
        return text.equals(NONE) ? "%2D" : URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decode(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }
}
