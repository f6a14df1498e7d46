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

/** Creates jetcd clients: each request has a deadline and is sent once, all watches share one stream. */
public final class EtcdClientFactory {
    /** gRPC takes no less; the server allows one each 5 s. */
    private static final Duration PING_AFTER = Duration.ofSeconds(10);

    private static final Duration PING_TIMEOUT = Duration.ofSeconds(5);

    private EtcdClientFactory() {}

    /** @param endpoints of one member, or of several where it does not matter which one answers */
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
                .keepaliveWithoutCalls(false) // the server takes pings without calls for an attack
                .interceptors(settings.interceptors())
                .interceptor(new Direct(tries), new WatchMultiplexer(context.clock(), listener));
        settings.tls().ifPresent(builder::sslContext);
        settings.credentials().ifPresent(who -> builder.user(bytes(who.user())).password(bytes(who.password())));
        return builder.build();
    }

    /** As jetcd resolves it. jetcd's own way from endpoints there knows neither IPv6 nor names with an underscore. */
    public static String target(List<String> endpoints) {
        return "ip:///" + String.join(",", endpoints).replace("[", "%5B").replace("]", "%5D");
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /** No hop to another thread, and a deadline for all but watches: what nobody waits for any more is not sent later. */
    private record Direct(RequestTryTimeout tries) implements ClientInterceptor {
        private static final String WATCH = "etcdserverpb.Watch";

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            CallOptions direct = options.withExecutor(MoreExecutors.directExecutor());
            return WATCH.equals(method.getServiceName())
                    ? next.newCall(method, direct)
                    : new Unlogged<>(next.newCall(
                            method, direct.withDeadlineAfter(tries.now().toNanos(), TimeUnit.NANOSECONDS)));
        }
    }

    /**
     * Wraps "unavailable" in another status. jetcd would log two warnings for each request that ends so, since that is what it
     * repeats if it may, and during an outage every request ends so.
     */
    private static final class Unlogged<Q, A> extends SimpleForwardingClientCall<Q, A> {
        Unlogged(ClientCall<Q, A> call) {
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
