// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sends raw Redis commands over its own connection, one at a time, and reads the server's counters. Thread-safe.
 *
 * <p>All commands throw an {@link UncheckedIOException} if the server does not reply within ten seconds, or if the connection
 * breaks.
 */
public final class RawRedis implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration TRY_TIMEOUT = Duration.ofSeconds(1);
    private static final Pattern MORTISE_CLIENT = Pattern.compile(" name=mortise-([0-9a-f]{16}) ");

    /**
     * Matches Mortise's keys that are not grants; in the escaped name of a grant, a percent sign precedes upper-case digits.
     */
    private static final Pattern NOT_A_GRANT = Pattern.compile("%[a-z]");

    private final int port;
    private final List<String> auth;
    private final Socket socket = new Socket();
    private final RespCodec resp;

    private RawRedis(int port, List<String> auth, Duration timeout) {
        this.port = port;
        this.auth = List.copyOf(auth);
        try {
            int millis = Math.toIntExact(timeout.toMillis());
            socket.setSoTimeout(millis);
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
            this.resp = new RespCodec(socket.getInputStream(), socket.getOutputStream());
            if (!auth.isEmpty()) {
                List<String> command = new ArrayList<>(List.of("AUTH"));
                command.addAll(auth);
                call(command.toArray(String[]::new));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e instanceof IOException io ? new UncheckedIOException(io) : (RuntimeException) e;
        }
    }

    /**
     * Connects to a port of 127.0.0.1.
     *
     * @param auth arguments of {@code AUTH}: none, a password, or a user and a password
     */
    public static RawRedis connect(int port, String... auth) {
        return new RawRedis(port, List.of(auth), TIMEOUT);
    }

    /** Sends one command over a new connection; empty if the reply is null or an error, or does not arrive within a second. */
    static Optional<Object> tryCall(int port, List<String> auth, String... command) {
        try (RawRedis redis = new RawRedis(port, auth, TRY_TIMEOUT)) {
            return Optional.ofNullable(redis.call(command));
        } catch (UncheckedIOException | ErrorReply e) {
            return Optional.empty();
        }
    }

    /**
     * Sends one command and waits for its reply: a {@code String} for a status or bulk string (as UTF-8), a {@code Long}, a
     * {@code List} of such, or null.
     *
     * @throws ErrorReply if the server replies with an error; an error inside a list is returned as an element of the list
     */
    public synchronized @Nullable Object call(String... command) {
        try {
            resp.write(command);
            Object reply = resp.read();
            if (reply instanceof ErrorReply error) {
                throw error;
            }
            return reply;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns all keys that match a pattern of {@code KEYS}, sorted. */
    public List<String> keys(String pattern) {
        List<String> keys = new ArrayList<>();
        for (Object key : (List<?>) Objects.requireNonNull(call("KEYS", pattern))) {
            keys.add((String) key);
        }
        keys.sort(null);
        return keys;
    }

    /** Returns the fields of one section of {@code INFO}, or of {@code all} or {@code everything}, sorted by name. */
    public Map<String, String> info(String section) {
        Map<String, String> fields = new TreeMap<>();
        String.valueOf(call("INFO", section)).lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#")) {
                fields.put(line.substring(0, colon), line.substring(colon + 1));
            }
        });
        return fields;
    }

    /**
     * Returns how often the server has run each command since its start or {@link #resetCommandCalls()}, sorted by name. Names
     * are in lower case, with a subcommand after a bar: {@code client|setname}. Commands inside scripts count, as do the
     * scripts themselves ({@code evalsha}). The commands of this method and of {@code resetCommandCalls()} do not count.
     */
    public Map<String, Long> commandCalls() {
        Map<String, Long> calls = new TreeMap<>();
        info("commandstats").forEach((field, value) -> {
            String name = field.substring("cmdstat_".length());
            long count = Long.parseLong(value.substring(value.indexOf('=') + 1, value.indexOf(',')));
            if (count > 0 && !name.equals("info") && !name.equals("config|resetstat")) {
                calls.put(name, count);
            }
        });
        return calls;
    }

    /**
     * Returns the number of script calls in {@link #commandCalls()} other than Mortise's renewals. Renewals are recognized by
     * their {@code GETRANGE}, one for each lock, so the result is exact only if each client holds at most one lock.
     */
    public long scriptCallsExceptRenewals() {
        Map<String, Long> calls = commandCalls();
        return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L) - calls.getOrDefault("getrange", 0L);
    }

    /** Returns the ids of the connected Mortise clients, sorted. */
    public Set<String> mortiseClients() {
        Set<String> ids = new TreeSet<>();
        Matcher matcher = MORTISE_CLIENT.matcher(String.valueOf(call("CLIENT", "LIST")));
        while (matcher.find()) {
            ids.add(matcher.group(1));
        }
        return ids;
    }

    /**
     * Makes all grants of one Mortise client on this server expire.
     *
     * @param prefix prefix of the lock keys
     * @param clientId id of the client, see {@link #mortiseClients()}
     */
    public void expireGrants(String prefix, String clientId) {
        for (String key : keys(prefix + "*")) {
            if (!NOT_A_GRANT.matcher(key).find()
                    && String.valueOf(call("GET", key)).contains(" client=" + clientId)) {
                call("PEXPIRE", key, "0");
            }
        }
    }

    /** Resets {@link #commandCalls()} and the other statistics of {@code INFO}. */
    public void resetCommandCalls() {
        call("CONFIG", "RESETSTAT");
    }

    /**
     * Returns the commands of all clients that the server executed while {@code work} ran, in order and as {@code MONITOR}
     * prints them: {@code 1700000000.000001 [0 127.0.0.1:50000] "GET" "key"}. Commands inside scripts are included, with the
     * address {@code lua}.
     */
    public List<String> monitor(Runnable work) {
        try (RawRedis monitoring = new RawRedis(port, auth, TIMEOUT)) {
            monitoring.call("MONITOR");
            work.run();
            // The server reports commands in the order in which it executed them.
            String end = UUID.randomUUID().toString();
            call("ECHO", end);
            List<String> lines = new ArrayList<>();
            for (String line = monitoring.next(); !line.contains(end); line = monitoring.next()) {
                lines.add(line);
            }
            return lines;
        }
    }

    private synchronized String next() {
        try {
            return String.valueOf(resp.read());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Thrown when the server replies with an error, such as {@code WRONGTYPE Operation against a key …}. */
    public static final class ErrorReply extends RuntimeException {
        private static final long serialVersionUID = 1;

        ErrorReply(String message) {
            super(message);
        }
    }
}
