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

/** Translates failures of jetcd and etcd into the core's exceptions. */
public final class EtcdErrors {
    private static final String LEASE_NOT_FOUND = "requested lease not found";

    /** The client asks for a new token, and the same request is served with it. */
    private static final String STALE_TOKEN = "invalid auth token";

    private static final String NO_LEADER = "no leader";
    private static final String STALE_AUTH = "revision of auth store is old";

    private EtcdErrors() {}

    /** Unknown outcome or final refusal, told with the endpoints. */
    public static LockException of(Throwable failure, String what, String endpoints) {
        LockException known = find(failure, LockException.class);
        if (known != null) {
            return known;
        }
        Said said = said(failure);
        if (isWrongTls(failure)) {
            return new BackendRefusedException(
                    what + " at " + endpoints + ": TLS failed: "
                            + innermost(failure).getMessage(),
                    failure);
        }
        return refused(said)
                ? new BackendRefusedException(
                        what + " at " + endpoints + " was refused: " + said.text
                                + ". Check credentials and permissions",
                        failure)
                : new BackendUnavailableException(
                        what + ": "
                                + (find(failure, ConnectException.class) != null
                                        ? endpoints + " refused the connection"
                                        : "no answer from " + endpoints + " (" + said.text + ")"),
                        endpoints,
                        failure);
    }

    /** A connection that broke while it was being made says nothing about certificates. */
    private static boolean isWrongTls(Throwable failure) {
        SSLException tls = find(failure, SSLException.class);
        return find(failure, CertificateException.class) != null
                || find(failure, SSLPeerUnverifiedException.class) != null
                || (tls != null
                        && String.valueOf(tls.getMessage())
                                .toLowerCase(Locale.ROOT)
                                .contains("fatal alert"));
    }

    /** The lease has ended: what was asked for on it was not done and never will be. */
    public static boolean isLeaseGone(Throwable failure) {
        return wordsOfEtcd(failure).contains(LEASE_NOT_FOUND);
    }

    /** Refused because of a token that was too old, so not executed. */
    static boolean isStaleToken(Throwable failure) {
        String text = wordsOfEtcd(failure);
        return text.contains(STALE_TOKEN) || text.contains(STALE_AUTH);
    }

    /** The server cannot be reached: not a word of an answer came. */
    static boolean isDisconnected(Throwable failure) {
        Said said = answer(failure);
        return said != null && said.code == Status.Code.UNAVAILABLE && !said.isByEtcd();
    }

    /** A connection was made, and closed before an answer came. */
    static boolean isClosedByServer(Throwable failure) {
        return isDisconnected(failure)
                && find(failure, ConnectException.class) == null
                && find(failure, UnknownHostException.class) == null;
    }

    /** It had no answer within its deadline. */
    static boolean isLate(Throwable failure) {
        Said said = answer(failure);
        return said != null && said.code == Status.Code.DEADLINE_EXCEEDED;
    }

    /** It is not known whether it was executed, and may be when it is sent again. */
    static boolean isUnknown(Throwable failure) {
        return find(failure, BackendUnavailableException.class) != null;
    }

    /** What failed, in one line. */
    static String text(Throwable failure) {
        return said(failure).text.lines().findFirst().orElse("");
    }

    /** A server was reached, whatever it said. */
    static boolean isAnswer(Throwable failure) {
        Said said = answer(failure);
        return said != null && said.isByEtcd();
    }

    /** The member that was asked knows no leader. */
    static boolean isLeaderless(Throwable failure) {
        return isAnswer(failure) && wordsOfEtcd(failure).contains(NO_LEADER);
    }

    /** The store is full, or too busy: it may have been executed before that was found, and will not be later. */
    public static boolean isRefusedWhenDone(@Nullable Throwable failure) {
        Said said = failure == null ? null : answer(failure);
        return said != null && said.code == Status.Code.RESOURCE_EXHAUSTED && said.isByEtcd();
    }

    /** Of what the store said: our own messages quote names of locks, and prove nothing. */
    private static String wordsOfEtcd(Throwable failure) {
        Said said = answer(failure);
        return said == null ? "" : said.text;
    }

    private record Said(Status.Code code, String text) {
        boolean isByEtcd() {
            return text.startsWith("etcdserver: ");
        }
    }

    private static boolean refused(Said said) {
        if (said.text.contains(STALE_TOKEN) || said.text.contains(STALE_AUTH)) {
            return false;
        }
        return switch (said.code) {
            case PERMISSION_DENIED, UNAUTHENTICATED, INVALID_ARGUMENT, FAILED_PRECONDITION, UNIMPLEMENTED -> true;
            default -> false;
        };
    }

    private static Said said(Throwable failure) {
        Said said = answer(failure);
        return said != null ? said : new Said(Status.Code.UNKNOWN, message(innermost(failure)));
    }

    /** The innermost status: the outer one may say no more than that getting a token failed. */
    private static @Nullable Said answer(Throwable failure) {
        Said said = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StatusRuntimeException answer) {
                said = said(answer.getStatus());
            } else if (cause instanceof StatusException answer) {
                said = said(answer.getStatus());
            } else if (cause instanceof EtcdException answer && answer.getCause() == null) {
                said = new Said(code(answer), String.valueOf(answer.getMessage()));
            }
        }
        return said;
    }

    private static Said said(Status status) {
        String text = Objects.requireNonNullElse(
                status.getDescription(), status.getCode().toString());
        Throwable cause = status.getCause();
        return new Said(status.getCode(), cause == null ? text : text + ", " + message(innermost(cause)));
    }

    private static Status.Code code(EtcdException answer) {
        try {
            return Status.Code.valueOf(answer.getErrorCode().name());
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
