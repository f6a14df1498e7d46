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

/** Sends all watches of a jetcd client over one gRPC stream. See ADR 0034. */
final class WatchMultiplexer implements ClientInterceptor {
    private static final Logger log = LoggerFactory.getLogger(WatchMultiplexer.class);

    /** Receives what the stream shows about the member to which it is connected. */
    interface MemberListener {
        /** Reports that a response arrived. */
        void onResponse();

        /** Reports that no response arrived for a while, although the stream requested some. */
        void onSilent();
    }

    private final LockClock clock;
    private final MemberListener memberListener;

    /** Runs all sends in order and one at a time, since gRPC's calls are not thread-safe. No caller waits for it. */
    private final SynchronizationContext sends = new SynchronizationContext(
            (thread, failure) -> log.warn("event=watch-request-failed cause=\"{}\"", failure.toString(), failure));

    private @Nullable WatchStream stream; // accessed in sends only

    WatchMultiplexer(LockClock clock, MemberListener memberListener) {
        this.clock = clock;
        this.memberListener = memberListener;
    }

    @Override
    @SuppressWarnings("unchecked") // the method's name determines the message types
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        boolean isWatch = WatchGrpc.getWatchMethod().getFullMethodName().equals(method.getFullMethodName());
        return isWatch
                ? (ClientCall<Q, A>) (ClientCall<?, ?>) new WatchCall(options, next)
                : next.newCall(method, options);
    }

    /** The call that jetcd treats as the stream of one watch. */
    final class WatchCall extends ClientCall<WatchRequest, WatchResponse> {
        private final CallOptions options;
        private final Channel channel;
        private volatile @Nullable Listener<WatchResponse> listener;
        private volatile @Nullable Metadata headers;
        private @Nullable WatchStream ownStream; // accessed in sends only
        private volatile boolean cancelled;
        private volatile long id = -1; // assigned by the server; -1 before its confirmation

        private WatchCall(CallOptions options, Channel channel) {
            this.options = options;
            this.channel = channel;
        }

        @Override
        public void start(Listener<WatchResponse> target, Metadata startHeaders) {
            listener = target;
            headers = startHeaders;
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
            if (open == null || !open.acceptsWatches()) {
                Metadata startHeaders = headers;
                open = new WatchStream(
                        clock,
                        sends,
                        memberListener,
                        channel.newCall(WatchGrpc.getWatchMethod(), options),
                        startHeaders == null ? new Metadata() : startHeaders);
                stream = open;
                open.start();
            }
            ownStream = open;
            open.create(this, request);
        }

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {
            sends.execute(this::cancelOnStream);
        }

        @Override
        public void halfClose() {
            sends.execute(this::cancelOnStream);
        }

        private void cancelOnStream() {
            cancelled = true;
            WatchStream carrier = ownStream;
            if (carrier != null) {
                carrier.cancel(this);
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
        public void request(int messages) {} // the stream requests all messages

        void deliver(WatchResponse response) {
            Listener<WatchResponse> target = listener;
            if (target != null) {
                target.onMessage(response);
            }
        }

        void close(Status status, Metadata trailers) {
            Listener<WatchResponse> target = listener;
            if (target != null) {
                target.onClose(status, trailers);
            }
        }
    }
}
