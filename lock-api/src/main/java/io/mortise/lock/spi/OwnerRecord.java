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
 * Text that is stored with each grant: attempt id, mode, host, process, start, metadata. {@code m1} is the version of the
 * layout; readers skip fields that they do not know, so that it can grow.
 */
public final class OwnerRecord {
    /** Length of an attempt id in hexadecimal digits. */
    public static final int ATTEMPT_ID_LENGTH = 32;

    private static final String VERSION = "m1";

    /** Mode of the grant, for whoever reads the store by hand; there is no other. */
    private static final String EXCLUSIVE = " mode=x";

    private OwnerRecord() {}

    /** The stored form. */
    public static String encode(String attemptId, String host, long pid, Instant since, Map<String, String> metadata) {
        StringBuilder out = new StringBuilder(128)
                .append(attemptId)
                .append(' ')
                .append(VERSION)
                .append(EXCLUSIVE);
        return out.append(" host=")
                .append(TextEscaper.attribute(host))
                .append(" pid=")
                .append(pid)
                .append(" since=")
                .append(since)
                .append(TextEscaper.metadata(metadata))
                .toString();
    }

    /** The attempt id at the head of a record, empty if it is not one of ours. */
    public static Optional<String> attemptId(String raw) {
        boolean ours = (raw + " ").startsWith(" " + VERSION + " ", ATTEMPT_ID_LENGTH)
                && raw.chars().limit(ATTEMPT_ID_LENGTH).allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
        return ours ? Optional.of(raw.substring(0, ATTEMPT_ID_LENGTH)) : Optional.empty();
    }

    /** Reads a stored record; anything that is not ours becomes a foreign holder, never an error (S19). */
    public static LockHolder parse(String raw, OptionalLong token) {
        return parse(raw, token, Map.of());
    }

    /**
     * The same.
     *
     * @param ifForeign what the backend can tell of one that is not ours, as its metadata
     */
    public static LockHolder parse(String raw, OptionalLong token, Map<String, String> ifForeign) {
        Optional<String> attemptId = attemptId(raw);
        Map<String, String> fields = new HashMap<>();
        Map<String, String> metadata = new HashMap<>();
        if (attemptId.isPresent()) {
            for (String field : raw.substring(ATTEMPT_ID_LENGTH).trim().split(" ", -1)) {
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
            return LockName.unescape(stored);
        } catch (IllegalArgumentException e) {
            return stored; // somebody else's text: shown as it is
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
