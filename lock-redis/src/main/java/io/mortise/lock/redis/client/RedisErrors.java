// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.RedisCommandExecutionException;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.net.ConnectException;
import java.security.cert.CertificateException;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Translates Lettuce's exceptions and Redis error replies into Mortise's exceptions. */
public final class RedisErrors {
    /** Error codes after which the server may execute the same request later. */
    private static final Set<String> TEMPORARY = Set.of(
            "LOADING",
            "READONLY",
            "MASTERDOWN",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "BUSY",
            "OOM",
            "MISCONF",
            "NOREPLICAS",
            "UNBLOCKED",
            "MOVED",
            "ASK");

    /** Error codes after which another server may be the master, or serve the slot. */
    private static final Set<String> MAY_HAVE_MOVED =
            Set.of("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN");

    private static final Pattern CODE = Pattern.compile("-?([A-Z]+)\\b.*", Pattern.DOTALL);

    /** The error of a command inside a script, as Redis 6 wraps it. */
    private static final Pattern INSIDE_SCRIPT =
            Pattern.compile(".*@user_script: ?\\d+: -?([A-Z]+)\\b.*", Pattern.DOTALL);

    /** The message of the JDK for a refused connection, and that of Netty, which adds the address. */
    private static final Pattern REFUSED = Pattern.compile("(?s).*Connection refused(?:[^:]*: *[^/\\s]*/(\\S+))?.*");

    private static final String TOO_MANY_CLIENTS = "max number of clients";

    private RedisErrors() {}

    /**
     * Returns an unknown outcome ({@link BackendUnavailableException}) or a final refusal ({@link BackendRefusedException})
     * that names the endpoints (S15). A {@link LockException} is returned unchanged.
     *
     * @param what the description of the request
     */
    public static LockException of(Throwable failure, String what, String endpoints) {
        LockException known = find(failure, LockException.class);
        if (known != null) {
            return known;
        }
        RedisCommandExecutionException error = find(failure, RedisCommandExecutionException.class);
        if (error != null) {
            String message = Optional.ofNullable(error.getMessage()).orElse("");
            return TEMPORARY.contains(code(message)) || message.contains(TOO_MANY_CLIENTS)
                    ? new BackendUnavailableException(what + " at " + endpoints + ": " + message, endpoints, error)
                    : new BackendRefusedException(
                            what + " at " + endpoints + " was refused: " + sentence(message) + " " + advice(message),
                            error);
        }
        boolean tls =
                find(failure, SSLHandshakeException.class) != null || find(failure, CertificateException.class) != null;
        if (tls && find(failure, SslHandshakeTimeoutException.class) == null) {
            return new BackendRefusedException(what + " at " + endpoints + ": TLS failed: " + reason(failure), failure);
        }
        ConnectException refused = find(failure, ConnectException.class);
        if (refused != null && REFUSED.matcher(message(refused)).matches()) {
            return new BackendUnavailableException(
                    what + ": connection refused at " + refusedBy(refused).orElse(endpoints), endpoints, failure);
        }
        return new BackendUnavailableException(
                what + ": no answer from " + endpoints + " (" + reason(failure) + ")", endpoints, failure);
    }

    /** Returns whether no server listens at the address. */
    public static boolean isConnectionRefused(Throwable failure) {
        return find(failure, ConnectException.class) != null;
    }

    private static Optional<String> refusedBy(ConnectException refused) {
        Matcher message = REFUSED.matcher(message(refused));
        return Optional.of(message)
                .filter(Matcher::matches)
                .map(where -> where.group(1))
                .filter(where -> !where.isEmpty());
    }

    /** Returns the message of the innermost cause. */
    public static String reason(Throwable failure) {
        return message(innermost(failure));
    }

    /** Returns the failure's message, or its class name if it has none. */
    private static String message(Throwable failure) {
        return Optional.ofNullable(failure.getMessage())
                .filter(message -> !message.isBlank())
                .orElse(failure.getClass().getSimpleName());
    }

    /** Returns whether another server may now be the master, or serve the slot. */
    public static boolean mayHaveMoved(Throwable failure) {
        return !(failure instanceof RedisCommandExecutionException)
                || MAY_HAVE_MOVED.contains(code(String.valueOf(failure.getMessage())));
    }

    /** Adds a full stop, which only some of Redis' messages have. */
    private static String sentence(String message) {
        return message.endsWith(".") ? message : message + ".";
    }

    /** Returns what to do about an error reply. */
    private static String advice(String message) {
        if (message.contains("cluster support disabled")) {
            return "This server is no node of a cluster: use redis://";
        }
        return switch (code(message)) {
            case "CROSSSLOT" -> "This is a cluster: use redis-cluster://";
            case "WRONGTYPE" -> "The key of this lock is in use by another application: use another prefix";
            case "NOAUTH" ->
                "The server needs a password: put USER:PASSWORD@ before the host in the URL, or :PASSWORD@ for the default"
                        + " user";
            case "WRONGPASS" -> "Check the user and the password";
            case "NOPERM" -> "Give the user this permission, and all others that Mortise's page for this backend lists";
            default ->
                message.contains("unknown command")
                        ? "The command may be renamed or disabled; if this is a sentinel, use redis-sentinel://"
                        : "Check credentials, ACLs and the database";
        };
    }

    /** Returns the code at the beginning of an error message, such as {@code MOVED}; empty if there is none. */
    public static String code(String message) {
        Matcher inside = INSIDE_SCRIPT.matcher(message);
        if (inside.matches()) {
            return inside.group(1);
        }
        Matcher plain = CODE.matcher(message);
        return plain.matches() ? plain.group(1) : "";
    }

    /**
     * Returns the first cause of this type, or null. Also searches suppressed exceptions, in which Lettuce collects the
     * failures of several cluster nodes.
     */
    public static <T extends Throwable> @Nullable T find(Throwable failure, Class<T> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            for (Throwable one : cause.getSuppressed()) {
                T found = find(one, type);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
