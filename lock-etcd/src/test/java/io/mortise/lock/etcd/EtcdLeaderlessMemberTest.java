// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that a client leaves a member that is cut off from the rest of the cluster. Such a member refuses each request at
 * once, and its watch stream keeps working. Here one server with two host names represents two members, and the test
 * simulates the cut.
 */
@Tag("once")
class EtcdLeaderlessMemberTest {
    private static final Duration LEASE = Duration.ofSeconds(10);

    /** Refuses requests over the connection that is in use when the cut begins. */
    private static final class Cut implements ClientInterceptor {
        private @Nullable Channel inUse;
        private @Nullable Channel cut;
        private int servedElsewhere;

        synchronized void begin() {
            cut = inUse;
        }

        synchronized boolean isRenewedElsewhere() {
            return servedElsewhere > 0;
        }

        private synchronized boolean refuses(MethodDescriptor<?, ?> method, Channel channel) {
            boolean isWatch = "etcdserverpb.Watch".equals(method.getServiceName());
            boolean refused = cut == channel && !isWatch;
            inUse = channel;
            if (cut != null && cut != channel && "etcdserverpb.Lease".equals(method.getServiceName())) {
                servedElsewhere++;
            }
            return refused;
        }

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return refuses(method, next) ? new Refused<>() : next.newCall(method, options);
        }
    }

    private static final class Refused<Q, A> extends ClientCall<Q, A> {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
            listener.onClose(Status.UNAVAILABLE.withDescription("etcdserver: no leader"), new Metadata());
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {}

        @Override
        public void halfClose() {}

        @Override
        public void sendMessage(Q message) {}
    }

    @Test
    void S07_aLeaseSurvivesWhenItsMemberIsCutOffFromTheOthers() throws Exception {
        Cut cut = new Cut();
        try (EtcdTestServer server = EtcdTestServer.start();
                LockClient client = EtcdLocks.connect(
                        EtcdOptions.connectTo(List.of("127.0.0.1:" + server.port(), "localhost:" + server.port()))
                                .leaseDuration(LEASE)
                                .interceptors(List.of(cut)),
                        ClientOptions.defaults())) {
            Lease quiet = client.named("x").acquire();
            long firstDeadline = deadline(quiet);
            cut.begin();
            Await.until("the lease is renewed through the other member", LEASE, cut::isRenewedElsewhere);
            long moved = Duration.ofMillis(500).toNanos();
            Await.until("the renewal counts", LEASE, () -> deadline(quiet) - firstDeadline > moved);
            assertThat(quiet.isHeld()).isTrue();
            quiet.release();
        }
    }

    private static long deadline(Lease lease) {
        return System.nanoTime() + lease.remaining().toNanos();
    }
}
