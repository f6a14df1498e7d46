// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.MessageLite;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which requests are sent, and what their failures mean, on a client of two members whose requests the test answers. */
class EtcdRequestSenderTest {
    private static final ByteSequence KEY = ByteSequence.from("mortise/x/", StandardCharsets.UTF_8);
    private static final MessageLite READ = RangeResponse.getDefaultInstance();
    private static final MessageLite DELETED =
            DeleteRangeResponse.newBuilder().setDeleted(1).build();
    private static final Status STALE_TOKEN = Status.UNAUTHENTICATED.withDescription("etcdserver: invalid auth token");
    private static final Status UNTRUSTED = Status.UNAVAILABLE.withCause(
            new SSLHandshakeException("handshake").initCause(new CertificateException("expired yesterday")));

    private final ManualClock clock = new ManualClock();
    private final List<PendingCall<?, ?>> pending = new ArrayList<>();
    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            EtcdRequestSenderTest.class.getClassLoader(),
            new Class<?>[] {BackendContext.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> clock;
                case "connectTimeout", "requestTimeout" -> Duration.ofSeconds(5);
                case "withRequestTimeout" -> arguments[1];
                case "blocking" -> (Executor) Runnable::run;
                case "renewNow" -> null;
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final EtcdFailoverConnection connection = new EtcdFailoverConnection(
            new EtcdSettings(
                    List.of("127.0.0.1:1", "127.0.0.1:2"),
                    Optional.empty(),
                    "mortise/",
                    Duration.ofSeconds(15),
                    Optional.empty(),
                    Optional.empty(),
                    List.of(new PendingCalls())),
            context);
    private final EtcdRequestSender requests = new EtcdRequestSender(connection, context);

    private final class PendingCalls implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return new PendingCall<>(method);
        }
    }

    private final class PendingCall<Q, A> extends ClientCall<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private @Nullable Listener<A> listener;

        PendingCall(MethodDescriptor<Q, A> method) {
            this.method = method;
        }

        @Override
        public void start(Listener<A> target, Metadata headers) {
            listener = target;
        }

        @Override
        public void sendMessage(Q message) {
            pending.add(this);
        }

        private Listener<A> taken() {
            pending.remove(this);
            return Objects.requireNonNull(listener);
        }

        void reply(MessageLite reply) {
            Listener<A> caller = taken();
            caller.onMessage(method.parseResponse(reply.toByteString().newInput()));
            caller.onClose(Status.OK, new Metadata());
        }

        void fail(Status status) {
            taken().onClose(status, new Metadata());
        }

        @Override
        public void halfClose() {}

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {}
    }

    private List<@Nullable String> sent() {
        return pending.stream().map(call -> call.method.getBareMethodName()).toList();
    }

    @BeforeEach
    void open() {
        connection.open();
        assertThat(sent()).containsExactly("Range"); // the first request of a connection
        pending.get(0).reply(READ);
    }

    @AfterEach
    void close() {
        connection.close();
    }

    private static <T> void assertFailed(CompletionStage<T> request, Class<? extends LockException> type, String text) {
        assertThat(request.toCompletableFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(type)
                .withMessageContaining(text);
    }

    /** As while a member's certificate has expired: the next one may serve. */
    @Test
    void S15_anUntrustedCertificateIsNoRefusalUntilEachMemberHasOne() {
        String first = connection.current().endpoints();
        CompletionStage<Boolean> unavailable = requests.delete("a", KEY);
        pending.get(0).fail(UNTRUSTED);
        assertFailed(unavailable, BackendUnavailableException.class, "TLS with " + first);
        assertFailed(unavailable, BackendUnavailableException.class, "expired yesterday");
        assertThat(connection.current().endpoints()).isNotEqualTo(first);
        pending.get(0).fail(UNTRUSTED); // the first request of the connection
        CompletionStage<Boolean> refused = requests.delete("b", KEY);
        pending.get(0).fail(UNTRUSTED);
        assertFailed(refused, BackendRefusedException.class, "expired yesterday");
    }

    /** Each login costs the server a password hash, and a member that was restarted has forgotten the tokens. */
    @Test
    void S15_requestsWhoseTokenWasTooOldWaitForOneReadThatGetsAnother() {
        List<CompletableFuture<Boolean>> deletions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            deletions.add(requests.delete("deletion " + i, KEY).toCompletableFuture());
        }
        for (int i = 0; i < 3; i++) {
            pending.get(0).fail(STALE_TOKEN);
        }
        deletions.add(requests.delete("a later one", KEY).toCompletableFuture());
        assertThat(sent()).containsExactly("Range");
        pending.get(0).reply(READ);
        assertThat(sent()).hasSize(4).containsOnly("DeleteRange");
        for (int i = 0; i < 4; i++) {
            pending.get(0).reply(DELETED);
        }
        assertThat(deletions).allSatisfy(deletion -> assertThat(deletion).isCompletedWithValue(true));
        requests.delete("the last one", KEY);
        pending.get(0).fail(STALE_TOKEN);
        assertThat(sent()).as("the next token").containsExactly("Range");
    }

    @Test
    void S17_aReadOfAQueueForWhichNobodyWaitsAnyMoreIsNotSent() {
        boolean[] needed = {true};
        for (int i = 0; i < 9; i++) {
            requests.queue(KEY, () -> needed[0]);
        }
        assertThat(sent()).as("the most that are in flight").hasSize(8);
        needed[0] = false;
        pending.get(0).reply(READ);
        assertThat(sent()).hasSize(7);
    }
}
