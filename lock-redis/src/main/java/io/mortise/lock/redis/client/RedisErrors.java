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

/** Translates failures of Lettuce and errors of Redis into the core's exceptions. */
public final class RedisErrors {
    /** A server that says one of these may serve the same request later. */
    private static final Set<String> PASSES = Set.of(
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

    private static final Set<String> POINTS_TO_A_CHANGE =
            Set.of("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN");

    private static final Pattern CODE = Pattern.compile("-?([A-Z]+)\\b.*", Pattern.DOTALL);

    /** Redis 6 wraps what a command inside a script said. */
    private static final Pattern INSIDE_SCRIPT =
            Pattern.compile(".*@user_script: ?\\d+: -?([A-Z]+)\\b.*", Pattern.DOTALL);

    /** As the JDK says it, and Netty, which adds where. */
    private static final Pattern REFUSED = Pattern.compile("(?s).*Connection refused(?:[^:]*: *[^/\\s]*/(\\S+))?.*");

    private static final String TOO_MANY_CLIENTS = "max number of clients";

    private RedisErrors() {}

    /**
     * Unknown outcome ({@link BackendUnavailableException}) or final refusal ({@link BackendRefusedException}), told with the
     * endpoints (S15); one that is Mortise's already stays as it is.
     *
     * @param what was asked for
     */
    public static LockException of(Throwable failure, String what, String endpoints) {
        LockException known = find(failure, LockException.class);
        if (known != null) {
            return known;
        }
        RedisCommandExecutionException answer = find(failure, RedisCommandExecutionException.class);
        if (answer != null) {
            String message = Optional.ofNullable(answer.getMessage()).orElse("");
            return PASSES.contains(code(message)) || message.contains(TOO_MANY_CLIENTS)
                    ? new BackendUnavailableException(what + " at " + endpoints + ": " + message, endpoints, answer)
                    : new BackendRefusedException(
                            what + " at " + endpoints + " was refused: " + sentence(message) + " "
                                    + advice(code(message)),
                            answer);
        }
        boolean tls =
                find(failure, SSLHandshakeException.class) != null || find(failure, CertificateException.class) != null;
        if (tls && find(failure, SslHandshakeTimeoutException.class) == null) {
            return new BackendRefusedException(what + " at " + endpoints + ": TLS failed: " + reason(failure), failure);
        }
        ConnectException refused = find(failure, ConnectException.class);
        if (refused != null && REFUSED.matcher(said(refused)).matches()) {
            return new BackendUnavailableException(
                    what + ": connection refused at " + refusedBy(refused).orElse(endpoints), endpoints, failure);
        }
        return new BackendUnavailableException(
                what + ": no answer from " + endpoints + " (" + reason(failure) + ")", endpoints, failure);
    }

    /** Nobody listens there. */
    public static boolean isConnectionRefused(Throwable failure) {
        return find(failure, ConnectException.class) != null;
    }

    private static Optional<String> refusedBy(ConnectException refused) {
        Matcher told = REFUSED.matcher(said(refused));
        return Optional.of(told)
                .filter(Matcher::matches)
                .map(where -> where.group(1))
                .filter(where -> !where.isEmpty());
    }

    /** What it comes from in the end, for people. */
    public static String reason(Throwable failure) {
        return said(innermost(failure));
    }

    /** Some failures have no message; their names say what they are. */
    private static String said(Throwable failure) {
        return Optional.ofNullable(failure.getMessage())
                .filter(message -> !message.isBlank())
                .orElse(failure.getClass().getSimpleName());
    }

    /** Whether it may come from somebody else's being in charge. */
    public static boolean mayHaveMoved(Throwable failure) {
        return !(failure instanceof RedisCommandExecutionException)
                || POINTS_TO_A_CHANGE.contains(code(String.valueOf(failure.getMessage())));
    }

    /** Some of Redis' messages end in a full stop. */
    private static String sentence(String message) {
        return message.endsWith(".") ? message : message + ".";
    }

    private static String advice(String code) {
        return switch (code) {
            case "CROSSSLOT" -> "This is a cluster: use redis-cluster://";
            case "WRONGTYPE" -> "A key of another application has the name of this lock's: use another prefix";
            default -> "Check credentials, ACLs and the database";
        };
    }

    public static String code(String message) {
        Matcher inside = INSIDE_SCRIPT.matcher(message);
        if (inside.matches()) {
            return inside.group(1);
        }
        Matcher plain = CODE.matcher(message);
        return plain.matches() ? plain.group(1) : "";
    }

    /** Also among what several nodes of a cluster said, which Lettuce suppresses. */
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
