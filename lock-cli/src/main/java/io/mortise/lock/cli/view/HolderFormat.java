// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.TerminalTextEscaper;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Formats the holders and waiters of locks as text or JSON. Text is escaped for a terminal (S19); JSON has the raw values. */
public final class HolderFormat {
    static final String NONE = "-";
    static final int SHORT_ID_LENGTH = 8;
    private static final int MAX_RAW_LENGTH = 60;
    /** The metadata key with the name of the client library that created a foreign holder, if the backend can tell. */
    private static final String CLIENT = "client";

    private HolderFormat() {}

    /** Returns the beginning of the owner id, or that the holder is foreign. */
    static String shortId(LockHolder holder) {
        if (holder.isForeign()) {
            String client = holder.metadata().get(CLIENT);
            return "foreign" + (client == null ? "" : ": " + safe(client));
        }
        return holder.owner()
                .map(owner -> safe(owner.length() > SHORT_ID_LENGTH ? owner.substring(0, SHORT_ID_LENGTH) : owner))
                .orElse(NONE);
    }

    /** Returns a description of the holder for use in a sentence. */
    static String description(LockHolder holder) {
        String client = holder.metadata().get(CLIENT);
        String who = !holder.isForeign()
                ? shortId(holder)
                : client == null ? "a client other than Mortise" : "a foreign client (" + safe(client) + ")";
        return holder.token().isPresent() ? who + ", token " + token(holder) : who;
    }

    /** Returns a short description of the holder: id, host, process id and token, as far as they are known. */
    public static String summary(LockHolder holder) {
        StringBuilder line = new StringBuilder(shortId(holder));
        holder.host().ifPresent(host -> line.append("  ").append(safe(host)));
        holder.pid().ifPresent(pid -> line.append(':').append(pid));
        holder.token().ifPresent(token -> line.append("  token ").append(token));
        return line.toString();
    }

    static String host(LockHolder holder) {
        return holder.host().map(HolderFormat::safe).orElse(NONE);
    }

    static String pid(LockHolder holder) {
        return holder.pid().isPresent() ? Long.toString(holder.pid().getAsLong()) : NONE;
    }

    static String token(LockHolder holder) {
        return holder.token().isPresent() ? Long.toString(holder.token().getAsLong()) : NONE;
    }

    static String since(LockHolder holder) {
        return holder.since().map(HolderFormat::seconds).orElse(NONE);
    }

    /** Returns the time since the holder requested the lock, in the two largest units; not negative, although clocks differ. */
    static String age(LockHolder holder, Instant now) {
        return holder.since().map(since -> age(Duration.between(since, now))).orElse(NONE);
    }

    private static String age(Duration age) {
        if (age.isNegative()) {
            return "0s";
        }
        if (age.toDays() > 0) {
            return age.toDays() + "d" + age.toHoursPart() + "h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + "h" + age.toMinutesPart() + "m";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + "m" + age.toSecondsPart() + "s" : age.toSeconds() + "s";
    }

    static String seconds(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    static String safe(String text) {
        return TerminalTextEscaper.safe(text);
    }

    /** Returns all known attributes of a holder, one per line, without a final line separator. */
    static String lines(LockHolder holder, String indent) {
        Map<String, String> shown = new LinkedHashMap<>();
        if (holder.isForeign()) {
            String raw = holder.raw();
            shown.put("foreign", "not acquired by Mortise");
            shown.put(
                    "entry",
                    '"' + safe(raw.length() > MAX_RAW_LENGTH ? raw.substring(0, MAX_RAW_LENGTH) + "..." : raw) + '"');
        } else {
            shown.put("owner", holder.owner().map(HolderFormat::safe).orElse(NONE));
            shown.put("host", host(holder));
            shown.put("pid", pid(holder));
            shown.put("since", since(holder));
        }
        shown.put("token", token(holder));
        new TreeMap<>(holder.metadata()).forEach((key, value) -> shown.putIfAbsent(safe(key), safe(value)));
        StringBuilder out = new StringBuilder();
        shown.forEach((key, value) -> out.append(out.isEmpty() ? "" : System.lineSeparator())
                .append(indent)
                .append(String.format("%-8s", key))
                .append("  ")
                .append(value));
        return out.toString();
    }

    static Map<String, Object> json(LockStatus status) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("name", status.name());
        object.put("held", !status.holders().isEmpty());
        object.put("holders", json(status.holders()));
        object.put("waiters", json(status.waiters()));
        return object;
    }

    private static List<Map<String, Object>> json(List<LockHolder> holders) {
        return holders.stream().map(HolderFormat::json).toList();
    }

    static Map<String, Object> json(LockHolder holder) {
        Map<String, Object> object = new LinkedHashMap<>();
        holder.owner().ifPresent(owner -> object.put("owner", owner));
        holder.host().ifPresent(host -> object.put("host", host));
        holder.pid().ifPresent(pid -> object.put("pid", pid));
        holder.since().ifPresent(since -> object.put("since", since.toString()));
        holder.token().ifPresent(token -> object.put("token", token));
        object.put("metadata", new TreeMap<>(holder.metadata()));
        object.put("foreign", holder.isForeign());
        object.put("raw", holder.raw());
        return object;
    }
}
