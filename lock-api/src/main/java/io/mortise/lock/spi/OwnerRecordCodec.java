// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LockHolder;
import io.mortise.lock.internal.TextEscaper;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Formats and parses the text, stored with each grant, that identifies the grant's owner.
 *
 * <p>The text has the attempt id, the version of the format ({@code m1}), the mode, the host, the process id, the time of the
 * request and the metadata. Readers skip fields that they do not know, so that later versions can add some.
 */
public final class OwnerRecordCodec {
    /** The length of an attempt id, in hexadecimal digits. */
    public static final int ATTEMPT_ID_LENGTH = 32;

    /**
     * The mark that a store may put in front of the text after a delayed release, so that late requests of the attempt do not
     * match the grant. The text still names the last owner.
     */
    public static final String KEPT_MARK = "~";

    private static final String VERSION = "m1";

    /** The mode of the grant, for people who read the store with its own tools. There is only this mode. */
    private static final String EXCLUSIVE = " mode=x";

    /** The last second that was formatted: the requests of a busy client share it, and formatting costs more than all the rest. */
    private static volatile FormattedSecond latest = FormattedSecond.of(0);

    private record FormattedSecond(long epochSecond, String text) {
        static FormattedSecond of(long epochSecond) {
            String text = Instant.ofEpochSecond(epochSecond).toString();
            return new FormattedSecond(epochSecond, text.substring(0, text.length() - 1)); // without the Z
        }
    }

    private OwnerRecordCodec() {}

    /**
     * Returns the text for one attempt, in ASCII and in one line.
     *
     * @param attemptId the id of the attempt, {@link #ATTEMPT_ID_LENGTH} hexadecimal digits
     * @param host the host name of the process
     * @param pid the process id
     * @param since when the lock was requested, by the wall clock of the host; the text contains milliseconds
     * @param metadata see {@link io.mortise.lock.LockOptions#metadata()}
     */
    public static String encode(String attemptId, String host, long pid, Instant since, Map<String, String> metadata) {
        StringBuilder out = new StringBuilder(128)
                .append(attemptId)
                .append(' ')
                .append(VERSION)
                .append(EXCLUSIVE);
        out.append(" host=")
                .append(TextEscaper.attribute(host))
                .append(" pid=")
                .append(pid)
                .append(" since=");
        return appendTime(out, since).append(TextEscaper.metadata(metadata)).toString();
    }

    private static StringBuilder appendTime(StringBuilder out, Instant time) {
        FormattedSecond second = latest;
        if (second.epochSecond != time.getEpochSecond()) {
            second = FormattedSecond.of(time.getEpochSecond());
            latest = second;
        }
        int millis = time.getNano() / 1_000_000;
        return out.append(second.text)
                .append('.')
                .append(millis / 100)
                .append(millis / 10 % 10)
                .append(millis % 10)
                .append('Z');
    }

    /**
     * Returns the attempt id at the start of a stored text, or after {@link #KEPT_MARK}; empty if {@link #encode} did not write
     * the text.
     */
    public static Optional<String> attemptId(String raw) {
        String text = withoutMark(raw);
        boolean ours = (text + " ").startsWith(" " + VERSION + " ", ATTEMPT_ID_LENGTH)
                && text.chars()
                        .limit(ATTEMPT_ID_LENGTH)
                        .allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
        return ours ? Optional.of(text.substring(0, ATTEMPT_ID_LENGTH)) : Optional.empty();
    }

    private static String withoutMark(String raw) {
        return raw.startsWith(KEPT_MARK) ? raw.substring(KEPT_MARK.length()) : raw;
    }

    /**
     * Parses a stored text. Text that {@link #encode} did not write becomes a foreign holder, and is never an error (S19).
     *
     * @param token the fencing token of the grant or queue entry; empty if there is none yet
     */
    public static LockHolder parse(String raw, OptionalLong token) {
        return parse(raw, token, Map.of());
    }

    /**
     * Parses a stored text, and adds metadata if it becomes a foreign holder.
     *
     * @param token the fencing token of the grant or queue entry; empty if there is none yet
     * @param ifForeign what the backend knows about a foreign holder
     */
    public static LockHolder parse(String raw, OptionalLong token, Map<String, String> ifForeign) {
        Optional<String> attemptId = attemptId(raw);
        Map<String, String> fields = new HashMap<>();
        Map<String, String> metadata = new HashMap<>();
        if (attemptId.isPresent()) {
            for (String field :
                    withoutMark(raw).substring(ATTEMPT_ID_LENGTH).trim().split(" ", -1)) {
                int equals = field.indexOf('=');
                if (equals < 0) {
                    continue;
                }
                String key = field.substring(0, equals);
                String value = readable(field.substring(equals + 1));
                if (key.startsWith(TextEscaper.META)) {
                    metadata.put(readable(key.substring(TextEscaper.META.length())), value);
                } else {
                    fields.put(key, value);
                }
            }
        }
        LockHolder holder = attemptId.isPresent()
                ? LockHolder.of(attemptId.get(), raw).metadata(metadata)
                : LockHolder.foreign(raw).metadata(ifForeign);
        holder = token.isPresent() ? holder.token(token.getAsLong()) : holder;
        String host = fields.get("host");
        holder = host == null ? holder : holder.host(host);
        OptionalLong pid = number(fields.getOrDefault("pid", ""));
        holder = pid.isPresent() ? holder.pid(pid.getAsLong()) : holder;
        Optional<Instant> since = instant(fields.getOrDefault("since", ""));
        return since.isPresent() ? holder.since(since.get()) : holder;
    }

    private static String readable(String stored) {
        try {
            return TextEscaper.unescape(stored);
        } catch (IllegalArgumentException e) {
            return stored; // not written by Mortise: shown unchanged
        }
    }

    private static OptionalLong number(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static Optional<Instant> instant(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
