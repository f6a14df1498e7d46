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
 * Sends raw Redis commands over a connection of its own, and reads the server's counters. Thread-safe; one command at a time.
 *
 * <p>A server that does not answer within ten seconds is an {@link UncheckedIOException}, as is a broken connection.
 */
public final class RawRedis implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);
    private static final Pattern MORTISE_CLIENT = Pattern.compile(" name=mortise-([0-9a-f]{16}) ");

    /** A key of Mortise's beside a grant: what an escaped name has after a percent sign is upper case. */
    private static final Pattern NO_GRANT = Pattern.compile("%[a-z]");

    private final int port;
    private final List<String> auth;
    private final Socket socket = new Socket();
    private final RespConnection resp;

    private RawRedis(int port, List<String> auth, Duration timeout) {
        this.port = port;
        this.auth = List.copyOf(auth);
        try {
            int millis = Math.toIntExact(timeout.toMillis());
            socket.setSoTimeout(millis);
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
            this.resp = new RespConnection(socket.getInputStream(), socket.getOutputStream());
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
     * @param auth nothing, a password, or a user and a password
     */
    public static RawRedis connect(int port, String... auth) {
        return new RawRedis(port, List.of(auth), TIMEOUT);
    }

    /** What a new connection is answered to one command; empty if that is an error, null, or nothing within a second. */
    static Optional<Object> ask(int port, List<String> auth, String... command) {
        try (RawRedis redis = new RawRedis(port, auth, ASK_TIMEOUT)) {
            return Optional.ofNullable(redis.call(command));
        } catch (UncheckedIOException | ErrorReply e) {
            return Optional.empty();
        }
    }

    /**
     * Sends one command and waits for its reply: a {@code String} for a status or bulk string (as UTF-8), a {@code Long}, a
     * {@code List} of such, or null.
     *
     * @throws ErrorReply if the server answers with an error; inside of a list it is an element of that
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

    /** All keys that match a pattern of {@code KEYS}, sorted. */
    public List<String> keys(String pattern) {
        List<String> keys = new ArrayList<>();
        for (Object key : (List<?>) Objects.requireNonNull(call("KEYS", pattern))) {
            keys.add((String) key);
        }
        keys.sort(null);
        return keys;
    }

    /** A section of {@code INFO}, or {@code all} or {@code everything}: field to value, sorted. */
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
     * How often the server has run each command since it started or {@link #resetCommandCalls()}, sorted by its name in small
     * letters, a subcommand after a bar: {@code client|setname}. A command that a script runs counts as well as the script
     * itself ({@code evalsha}). Without the commands of this method and {@code resetCommandCalls()}.
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
     * Of {@link #commandCalls()} the scripts, without Mortise's renewals: those alone read a part of a value, once for each lock.
     * So it counts right where each client holds one lock at most.
     */
    public long scriptsButRenewals() {
        Map<String, Long> calls = commandCalls();
        return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L) - calls.getOrDefault("getrange", 0L);
    }

    /** The ids of Mortise's clients that are connected, sorted. */
    public Set<String> mortiseClients() {
        Set<String> ids = new TreeSet<>();
        Matcher matcher = MORTISE_CLIENT.matcher(String.valueOf(call("CLIENT", "LIST")));
        while (matcher.find()) {
            ids.add(matcher.group(1));
        }
        return ids;
    }

    /** Makes all grants of one of Mortise's clients on this server expire. */
    public void expireGrants(String prefix, String clientId) {
        for (String key : keys(prefix + "*")) {
            if (!NO_GRANT.matcher(key).find()
                    && String.valueOf(call("GET", key)).contains(" client=" + clientId)) {
                call("PEXPIRE", key, "0");
            }
        }
    }

    /** Starts {@link #commandCalls()} anew, and the other statistics of {@code INFO}. */
    public void resetCommandCalls() {
        call("CONFIG", "RESETSTAT");
    }

    /**
     * What the server was asked while {@code work} ran, by anybody, one line a command as {@code MONITOR} prints it, in order:
     * {@code 1700000000.000001 [0 127.0.0.1:50000] "GET" "key"}. What a script runs is there too, with {@code lua} as its
     * address.
     */
    public List<String> monitor(Runnable work) {
        try (RawRedis watcher = new RawRedis(port, auth, TIMEOUT)) {
            watcher.call("MONITOR");
            work.run();
            // The server tells of commands in the order in which it ran them.
            String end = UUID.randomUUID().toString();
            call("ECHO", end);
            List<String> lines = new ArrayList<>();
            for (String line = watcher.next(); !line.contains(end); line = watcher.next()) {
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

    /** The server's answer was an error, such as {@code WRONGTYPE Operation against a key holding the wrong kind of value}. */
    public static final class ErrorReply extends RuntimeException {
        private static final long serialVersionUID = 1;

        ErrorReply(String message) {
            super(message);
        }
    }
}
