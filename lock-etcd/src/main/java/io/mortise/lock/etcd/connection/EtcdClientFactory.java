// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.mortise.lock.spi.BackendContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Creates jetcd clients that never retry, give each request a deadline, and share one stream for all watches. */
public final class EtcdClientFactory {
    /** The minimum that gRPC accepts; the server allows one ping every 5 s. */
    private static final Duration PING_AFTER = Duration.ofSeconds(10);

    private static final Duration PING_TIMEOUT = Duration.ofSeconds(5);

    /** All contenders of a lock are read in one response. gRPC's default is 4 MiB. */
    private static final int MAX_RESPONSE_BYTES = 64 << 20;

    private EtcdClientFactory() {}

    /** @param endpoints those of one member, or of several if any of them may respond */
    static Client build(
            EtcdSettings settings,
            List<String> endpoints,
            RequestTryTimeout tries,
            BackendContext context,
            WatchMultiplexer.MemberListener listener) {
        ClientBuilder builder = Client.builder()
                .target(target(endpoints))
                .executorService(MoreExecutors.newDirectExecutorService())
                .waitForReady(false)
                .retryMaxAttempts(0)
                .connectTimeout(context.connectTimeout())
                .keepaliveTime(PING_AFTER)
                .keepaliveTimeout(PING_TIMEOUT)
                .maxInboundMessageSize(MAX_RESPONSE_BYTES)
                .keepaliveWithoutCalls(false) // the server treats pings without calls as an attack
                .interceptors(settings.interceptors())
                .interceptor(new DeadlineInterceptor(tries), new WatchMultiplexer(context.clock(), listener));
        settings.tls().map(Supplier::get).ifPresent(builder::sslContext);
        settings.credentials()
                .ifPresent(
                        credentials -> builder.user(bytes(credentials.user())).password(bytes(credentials.password())));
        return builder.build();
    }

    /**
     * Returns the target URI of the endpoints in the form that jetcd resolves. jetcd's own conversion supports neither IPv6
     * addresses nor names with an underscore.
     */
    public static String target(List<String> endpoints) {
        return "ip:///" + String.join(",", endpoints).replace("[", "%5B").replace("]", "%5D");
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /**
     * Runs callbacks without a change of thread, and sets a deadline on all requests but watches, so that no request is
     * sent after its caller has given up.
     */
    private record DeadlineInterceptor(RequestTryTimeout tries) implements ClientInterceptor {
        private static final String WATCH = "etcdserverpb.Watch";

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            CallOptions direct = options.withExecutor(MoreExecutors.directExecutor());
            return WATCH.equals(method.getServiceName())
                    ? next.newCall(method, direct)
                    : new UnavailableAsAborted<>(next.newCall(
                            method, direct.withDeadlineAfter(tries.current().toNanos(), TimeUnit.NANOSECONDS)));
        }
    }

    /**
     * Replaces the status "unavailable" by another one. jetcd would log two warnings for each such request, because it is
     * the status on which jetcd retries, and during an outage every request ends with it.
     */
    private static final class UnavailableAsAborted<Q, A> extends SimpleForwardingClientCall<Q, A> {
        UnavailableAsAborted(ClientCall<Q, A> call) {
            super(call);
        }

        @Override
        public void start(Listener<A> listener, Metadata headers) {
            super.start(
                    new SimpleForwardingClientCallListener<>(listener) {
                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            boolean unavailable = status.getCode() == Status.Code.UNAVAILABLE;
                            super.onClose(
                                    unavailable ? Status.ABORTED.withCause(status.asRuntimeException()) : status,
                                    trailers);
                        }
                    },
                    headers);
        }
    }
}
