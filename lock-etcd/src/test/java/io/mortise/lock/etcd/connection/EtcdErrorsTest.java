// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.grpc.Status;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EtcdErrorsTest {
    private static LockException of(Throwable failure) {
        return EtcdErrors.of(failure, "acquire of lock \"x\"", "etcd://h:1");
    }

    @ParameterizedTest
    @CsvSource({
        "PERMISSION_DENIED, etcdserver: permission denied",
        "INVALID_ARGUMENT, 'etcdserver: authentication failed, invalid user ID or password'",
        "FAILED_PRECONDITION, etcdserver: authentication is not enabled",
        "UNIMPLEMENTED, unknown service",
    })
    void permanentFailuresAreRefusals(Status.Code code, String text) {
        assertThat(of(code.toStatus().withDescription(text).asRuntimeException()))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("acquire of lock \"x\"")
                .hasMessageContaining("etcd://h:1")
                .hasMessageContaining(text);
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, etcdserver: no leader",
        "DEADLINE_EXCEEDED, context deadline exceeded",
        "RESOURCE_EXHAUSTED, etcdserver: mvcc: database space exceeded",
        "UNKNOWN, something",
        "CANCELLED, something",
        "UNAUTHENTICATED, etcdserver: invalid auth token",
        "INVALID_ARGUMENT, etcdserver: revision of auth store is old",
    })
    void temporaryFailuresHaveAnUnknownOutcome(Status.Code code, String text) {
        assertThat(of(new CompletionException(
                        code.toStatus().withDescription(text).asRuntimeException())))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(text);
    }

    /** jetcd wraps the reason in an exception that says only that getting a token failed. */
    @Test
    void theReasonForAMissingTokenDecides() {
        Throwable wrong = Status.INVALID_ARGUMENT
                .withDescription("etcdserver: authentication failed")
                .asRuntimeException();
        Throwable silent = Status.UNAVAILABLE.withDescription("io exception").asRuntimeException();
        assertThat(of(Status.UNAUTHENTICATED.withCause(wrong).asRuntimeException()))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("authentication failed");
        assertThat(of(Status.UNAUTHENTICATED.withCause(silent).asRuntimeException()))
                .isInstanceOf(BackendUnavailableException.class);
    }

    private static LockException ofHandshake(Throwable failure) {
        return of(Status.UNAVAILABLE
                .withDescription("io exception")
                .withCause(failure)
                .asRuntimeException());
    }

    @Test
    void S15_wrongCertificatesAreRefused() {
        Throwable untrusted = new SSLHandshakeException("PKIX path building failed")
                .initCause(new CertificateException("no path to a root"));
        assertThat(ofHandshake(untrusted))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("no path to a root");
        assertThat(ofHandshake(new SSLPeerUnverifiedException("another host")))
                .isInstanceOf(BackendRefusedException.class);
        assertThat(ofHandshake(new SSLHandshakeException("Received fatal alert: bad_certificate")))
                .isInstanceOf(BackendRefusedException.class);
    }

    /** A connection that breaks during the TLS handshake, or later. */
    @Test
    void S08_S15_aTlsConnectionThatBreaksHasAnUnknownOutcome() {
        assertThat(ofHandshake(new SSLHandshakeException("Connection closed while SSL/TLS handshake was in progress")))
                .isInstanceOf(BackendUnavailableException.class);
        assertThat(ofHandshake(new SSLException("closing inbound before receiving peer's close_notify")))
                .isInstanceOf(BackendUnavailableException.class);
    }

    @Test
    void mortisesOwnFailuresPassThrough() {
        LockException known = new BackendUnavailableException("no answer in 5000 ms");
        assertThat(of(new CompletionException(known))).isSameAs(known);
    }

    @Test
    void aMissingLeaseIsRecognizedInBothOfItsForms() {
        Throwable grpc = Status.NOT_FOUND
                .withDescription("etcdserver: requested lease not found")
                .asRuntimeException();
        Throwable jetcd =
                EtcdExceptionFactory.newEtcdException(ErrorCode.NOT_FOUND, "etcdserver: requested lease not found");
        assertThat(EtcdErrors.isLeaseNotFound(of(grpc))).isTrue();
        assertThat(EtcdErrors.isLeaseNotFound(of(jetcd))).isTrue();
        assertThat(EtcdErrors.isLeaseNotFound(of(Status.UNAVAILABLE.asRuntimeException())))
                .isFalse();
    }

    /** A lock may have any name, and Mortise's own messages quote it. */
    @Test
    void S08_mortisesOwnMessagesProveNothing() {
        Throwable own = new BackendUnavailableException(
                "acquire of lock \"requested lease not found, invalid auth token\": no answer in 5000 ms");
        assertThat(EtcdErrors.isLeaseNotFound(own)).isFalse();
        assertThat(EtcdErrors.isStaleToken(own)).isFalse();
        Throwable full = new BackendUnavailableException("lock \"etcdserver: space\"");
        assertThat(EtcdErrors.isResourceExhausted(full)).isFalse();
    }

    @Test
    void S15_aServerThatRepliesIsNotDisconnected() {
        Throwable leaderless =
                Status.UNAVAILABLE.withDescription("etcdserver: no leader").asRuntimeException();
        Throwable unreachable =
                Status.UNAVAILABLE.withDescription("io exception").asRuntimeException();
        assertThat(EtcdErrors.isDisconnected(leaderless)).isFalse();
        assertThat(EtcdErrors.isServerReply(leaderless)).isTrue();
        assertThat(EtcdErrors.isDisconnected(unreachable)).isTrue();
        assertThat(EtcdErrors.isServerReply(unreachable)).isFalse();
    }

    @Test
    void S08_aFullStoreHasExecutedARequestOrNeverWill() {
        String text = "etcdserver: mvcc: database space exceeded";
        assertThat(EtcdErrors.isResourceExhausted(
                        of(Status.RESOURCE_EXHAUSTED.withDescription(text).asRuntimeException())))
                .isTrue();
        assertThat(EtcdErrors.isResourceExhausted(of(Status.UNAVAILABLE
                        .withDescription("etcdserver: request timed out")
                        .asRuntimeException())))
                .as("it may still be executed")
                .isFalse();
        assertThat(EtcdErrors.isResourceExhausted(of(Status.RESOURCE_EXHAUSTED
                        .withDescription("gRPC message exceeds maximum size")
                        .asRuntimeException())))
                .isFalse();
    }

    /** A proxy that cannot reach its member says nothing about the member. */
    @Test
    void S15_onlyAMessageOfEtcdReportsThatAMemberServesNothing() {
        assertThat(isNotServed(Status.UNAVAILABLE, "etcdserver: no leader")).isTrue();
        assertThat(isNotServed(Status.UNAVAILABLE, "etcdserver: request timed out"))
                .isTrue();
        assertThat(isNotServed(Status.RESOURCE_EXHAUSTED, "etcdserver: too many requests"))
                .as("it lags behind")
                .isTrue();
        assertThat(isNotServed(Status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded"))
                .as("so is every member")
                .isFalse();
        assertThat(isNotServed(Status.UNAVAILABLE, "no leader")).isFalse();
        assertThat(isNotServed(Status.PERMISSION_DENIED, "etcdserver: permission denied"))
                .isFalse();
    }

    /** Another member of the URL may serve the request. The code depends on the version of etcd. */
    @Test
    void S15_aLearnerServesNothing() {
        String learner = "etcdserver: rpc not supported for learner";
        for (Status status : List.of(Status.UNAVAILABLE, Status.FAILED_PRECONDITION)) {
            assertThat(isNotServed(status, learner)).isTrue();
            assertThat(EtcdErrors.of(status.withDescription(learner).asRuntimeException(), "connect", "a"))
                    .isInstanceOf(BackendUnavailableException.class);
        }
    }

    private static boolean isNotServed(Status status, String message) {
        return EtcdErrors.isNotServed(status.withDescription(message).asRuntimeException());
    }
}
