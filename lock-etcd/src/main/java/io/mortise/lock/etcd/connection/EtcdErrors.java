// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.Objects;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/** Translates failures of jetcd and etcd into Mortise's exceptions. */
public final class EtcdErrors {
    private static final String LEASE_NOT_FOUND = "requested lease not found";

    /** Not a refusal: the client requests a new token, and the same request succeeds with it. */
    private static final String STALE_TOKEN = "invalid auth token";

    private static final String LEARNER = "not supported for learner";
    private static final String LAGGING = "too many requests";
    private static final String STALE_AUTH = "revision of auth store is old";

    private EtcdErrors() {}

    /** Returns an exception for an unknown outcome or a final refusal, with the endpoints in its message. */
    public static LockException of(Throwable failure, String what, String endpoints) {
        LockException known = find(failure, LockException.class);
        if (known != null) {
            return known;
        }
        EtcdStatus status = statusOf(failure);
        if (isWrongTls(failure)) {
            return new BackendRefusedException(
                    what + " at " + endpoints + ": TLS failed: "
                            + innermost(failure).getMessage(),
                    failure);
        }
        return isRefused(status)
                ? new BackendRefusedException(
                        what + " at " + endpoints + " was refused: " + status.text
                                + ". Check credentials and permissions",
                        failure)
                : new BackendUnavailableException(
                        what + ": "
                                + (find(failure, ConnectException.class) != null
                                        ? endpoints + " refused the connection"
                                        : "no answer from " + endpoints + " (" + status.text + ")"),
                        endpoints,
                        failure);
    }

    /**
     * Returns whether TLS is misconfigured. A connection that broke during the handshake proves nothing about certificates.
     */
    static boolean isWrongTls(Throwable failure) {
        SSLException tls = find(failure, SSLException.class);
        return find(failure, CertificateException.class) != null
                || find(failure, SSLPeerUnverifiedException.class) != null
                || (tls != null
                        && String.valueOf(tls.getMessage())
                                .toLowerCase(Locale.ROOT)
                                .contains("fatal alert"));
    }

    /** Returns whether the etcd lease has ended, so that the request was not executed and never will be. */
    public static boolean isLeaseNotFound(Throwable failure) {
        return serverMessage(failure).contains(LEASE_NOT_FOUND);
    }

    /** Returns whether the request was refused because its token was too old, and so was not executed. */
    static boolean isStaleToken(Throwable failure) {
        String text = serverMessage(failure);
        return text.contains(STALE_TOKEN) || text.contains(STALE_AUTH);
    }

    /** Returns whether the server cannot be reached: no part of a reply arrived. */
    static boolean isDisconnected(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status != null && status.code == Status.Code.UNAVAILABLE && !status.isFromEtcd();
    }

    /** Returns whether the connection was established, and closed before a reply arrived. */
    static boolean isClosedByServer(Throwable failure) {
        return isDisconnected(failure)
                && find(failure, ConnectException.class) == null
                && find(failure, UnknownHostException.class) == null;
    }

    /** Returns whether the request got no reply before its deadline. */
    static boolean isTimeout(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status != null && status.code == Status.Code.DEADLINE_EXCEEDED;
    }

    /** Returns whether it is unknown if the request was executed; it may be if it is sent again. */
    public static boolean hasUnknownOutcome(Throwable failure) {
        return find(failure, BackendUnavailableException.class) != null;
    }

    /** Returns a one-line summary of the failure. */
    static String summary(Throwable failure) {
        return statusOf(failure).text.lines().findFirst().orElse("");
    }

    /** Returns whether the server replied, whatever the reply was. */
    static boolean isServerReply(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status != null && status.isFromEtcd();
    }

    /**
     * Returns whether the member replied that it cannot serve the request now, whatever its content: it knows no leader, is a
     * learner, lags behind the others, or had no response of them in time.
     */
    static boolean isNotServed(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status != null
                && status.isFromEtcd()
                && (status.code == Status.Code.UNAVAILABLE || status.isOfLearner() || status.isOfLaggingMember());
    }

    /**
     * Returns whether the store is full or too busy: it may have executed the request before it found that, and will not
     * execute it later.
     */
    public static boolean isResourceExhausted(@Nullable Throwable failure) {
        EtcdStatus status = failure == null ? null : innermostStatus(failure);
        return status != null && status.code == Status.Code.RESOURCE_EXHAUSTED && status.isFromEtcd();
    }

    /** Returns the message of the store. Mortise's own messages quote lock names, and prove nothing. */
    private static String serverMessage(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status == null ? "" : status.text;
    }

    private record EtcdStatus(Status.Code code, String text) {
        boolean isFromEtcd() {
            return text.startsWith("etcdserver: ");
        }

        boolean isOfLearner() {
            return text.contains(LEARNER);
        }

        /** A full store has the same code, but no other member serves the request then. */
        boolean isOfLaggingMember() {
            return text.contains(LAGGING);
        }
    }

    private static boolean isRefused(EtcdStatus status) {
        if (status.text.contains(STALE_TOKEN) || status.text.contains(STALE_AUTH) || status.isOfLearner()) {
            return false;
        }
        return switch (status.code) {
            case PERMISSION_DENIED, UNAUTHENTICATED, INVALID_ARGUMENT, FAILED_PRECONDITION, UNIMPLEMENTED -> true;
            default -> false;
        };
    }

    private static EtcdStatus statusOf(Throwable failure) {
        EtcdStatus status = innermostStatus(failure);
        return status != null ? status : new EtcdStatus(Status.Code.UNKNOWN, message(innermost(failure)));
    }

    /** Returns the innermost status, since the outer one may say only that getting a token failed. */
    private static @Nullable EtcdStatus innermostStatus(Throwable failure) {
        EtcdStatus status = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StatusRuntimeException exception) {
                status = statusOf(exception.getStatus());
            } else if (cause instanceof StatusException exception) {
                status = statusOf(exception.getStatus());
            } else if (cause instanceof EtcdException exception && exception.getCause() == null) {
                status = new EtcdStatus(code(exception), String.valueOf(exception.getMessage()));
            }
        }
        return status;
    }

    private static EtcdStatus statusOf(Status status) {
        String text = Objects.requireNonNullElse(
                status.getDescription(), status.getCode().toString());
        Throwable cause = status.getCause();
        return new EtcdStatus(status.getCode(), cause == null ? text : text + ", " + message(innermost(cause)));
    }

    private static Status.Code code(EtcdException exception) {
        try {
            return Status.Code.valueOf(exception.getErrorCode().name());
        } catch (IllegalArgumentException e) {
            return Status.Code.UNKNOWN;
        }
    }

    private static <T extends Throwable> @Nullable T find(Throwable failure, Class<T> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    private static String message(Throwable failure) {
        return Objects.requireNonNullElse(
                failure.getMessage(), failure.getClass().getSimpleName());
    }

    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
