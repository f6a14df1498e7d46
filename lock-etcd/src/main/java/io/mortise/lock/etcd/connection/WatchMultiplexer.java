// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.mortise.lock.spi.LockClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts all watches of a client on one gRPC stream. */
final class WatchMultiplexer implements ClientInterceptor {
    private static final Logger log = LoggerFactory.getLogger(WatchMultiplexer.class);

    /** Told of what the stream says about the member to which it goes. */
    interface MemberListener {
        /** Something arrived. */
        void heard();

        /** Nothing arrived for a while, though it was asked. */
        void silent();
    }

    private final LockClock clock;
    private final MemberListener memberListener;

    /** Runs what is sent, in order and one at a time, since gRPC's calls are not thread-safe. Nobody waits for it. */
    private final SynchronizationContext sends = new SynchronizationContext(
            (thread, failure) -> log.warn("event=watch-request-failed cause=\"{}\"", failure.toString(), failure));

    private @Nullable WatchStream stream; // of what is sent only

    WatchMultiplexer(LockClock clock, MemberListener memberListener) {
        this.clock = clock;
        this.memberListener = memberListener;
    }

    @Override
    @SuppressWarnings("unchecked") // the method's name says what its messages are
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        boolean isWatch = WatchGrpc.getWatchMethod().getFullMethodName().equals(method.getFullMethodName());
        return isWatch
                ? (ClientCall<Q, A>) (ClientCall<?, ?>) new WatchCall(options, next)
                : next.newCall(method, options);
    }

    /** What jetcd takes for the stream of one watch. */
    final class WatchCall extends ClientCall<WatchRequest, WatchResponse> {
        private final CallOptions options;
        private final Channel channel;
        private volatile @Nullable Listener<WatchResponse> listener;
        private volatile @Nullable Metadata headers;
        private @Nullable WatchStream on; // of what is sent only
        private volatile boolean cancelled;
        private volatile long id = -1; // as the server calls it; none before it says so

        private WatchCall(CallOptions options, Channel channel) {
            this.options = options;
            this.channel = channel;
        }

        @Override
        public void start(Listener<WatchResponse> told, Metadata sent) {
            listener = told;
            headers = sent;
        }

        @Override
        public void sendMessage(WatchRequest request) {
            if (request.hasCreateRequest()) {
                sends.execute(() -> create(request));
            }
        }

        private void create(WatchRequest request) {
            if (cancelled) {
                return;
            }
            WatchStream open = stream;
            if (open == null || open.hasEnded()) {
                Metadata sent = headers;
                open = new WatchStream(
                        clock,
                        sends,
                        memberListener,
                        channel.newCall(WatchGrpc.getWatchMethod(), options),
                        sent == null ? new Metadata() : sent);
                stream = open;
                open.start();
            }
            on = open;
            open.create(this, request);
        }

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {
            sends.execute(this::leave);
        }

        @Override
        public void halfClose() {
            sends.execute(this::leave);
        }

        private void leave() {
            cancelled = true;
            WatchStream left = on;
            if (left != null) {
                left.cancel(this);
            }
        }

        void confirmed(long chosen) {
            id = chosen;
        }

        long id() {
            return id;
        }

        boolean isCancelled() {
            return cancelled;
        }

        @Override
        public void request(int messages) {} // the stream asks for all of them

        void deliver(WatchResponse response) {
            Listener<WatchResponse> told = listener;
            if (told != null) {
                told.onMessage(response);
            }
        }

        void close(Status status, Metadata trailers) {
            Listener<WatchResponse> told = listener;
            if (told != null) {
                told.onClose(status, trailers);
            }
        }
    }
}
