// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.mortise.lock.spi.BackendContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * jetcd as we set it up: every request has a deadline and is sent once, all watches share one stream, answers come on the thread
 * that read them, and a server that cannot be reached is an error at once.
 */
final class OwnClient {
    /** gRPC takes no less; the server allows one each 5 s. */
    private static final Duration PING_AFTER = Duration.ofSeconds(10);

    private static final Duration PING_TIMEOUT = Duration.ofSeconds(5);

    private OwnClient() {}

    static Client build(EtcdOptions options, BackendContext context) {
        ClientBuilder builder = Client.builder()
                .target(target(options.endpointList()))
                .executorService(MoreExecutors.newDirectExecutorService())
                .waitForReady(false)
                .retryMaxAttempts(0)
                .connectTimeout(context.connectTimeout())
                .keepaliveTime(PING_AFTER)
                .keepaliveTimeout(PING_TIMEOUT)
                .keepaliveWithoutCalls(false) // the server takes pings without calls for an attack
                .interceptors(options.interceptors())
                .interceptor(new Direct(context.requestTimeout()), new WatchMultiplexer(context.clock()));
        options.tls().ifPresent(builder::sslContext);
        options.credentials().ifPresent(who -> builder.user(bytes(who.user())).password(bytes(who.password())));
        return builder.build();
    }

    /** As jetcd resolves it. jetcd's own way from endpoints there knows neither IPv6 nor names with an underscore. */
    static String target(List<String> endpoints) {
        return "ip:///" + String.join(",", endpoints).replace("[", "%5B").replace("]", "%5D");
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /** No hop to another thread, and a deadline for all but watches: what nobody waits for any more is not sent later. */
    private record Direct(Duration requestTimeout) implements ClientInterceptor {
        private static final String WATCH = "etcdserverpb.Watch";

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            CallOptions direct = options.withExecutor(MoreExecutors.directExecutor());
            return next.newCall(
                    method,
                    WATCH.equals(method.getServiceName())
                            ? direct
                            : direct.withDeadlineAfter(requestTimeout.toNanos(), TimeUnit.NANOSECONDS));
        }
    }
}
