// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What goes over a client's wire, by the names of etcd's methods; and a request that arrives far too late. */
final class Wire implements ClientInterceptor {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable String> delaying = new AtomicReference<>();
    private final CompletableFuture<Late> late = new CompletableFuture<>();

    /** A request that was held up, and is still to arrive. */
    interface Late {
        /** It arrives now; completes when the server has executed it. */
        CompletableFuture<Status> arrives();
    }

    /** How often each was called: a stream counts once. */
    Map<String, Integer> counts() {
        return new TreeMap<>(counts);
    }

    void reset() {
        counts.clear();
    }

    /** Holds up the next request of that name: its sender is told that there was no answer. */
    CompletableFuture<Late> delayNext(String method) {
        delaying.set(method);
        return late;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        String name = String.valueOf(method.getBareMethodName());
        counts.merge(name, 1, Integer::sum);
        String awaited = delaying.get();
        return name.equals(awaited) && delaying.compareAndSet(awaited, null)
                ? new Delayed<>(() -> next.newCall(method, options.withDeadline(null)))
                : next.newCall(method, options);
    }

    private final class Delayed<Q, A> extends ClientCall<Q, A> implements Late {
        private final Supplier<ClientCall<Q, A>> real;
        private @Nullable Listener<A> sender;
        private @Nullable Q message;

        Delayed(Supplier<ClientCall<Q, A>> real) {
            this.real = real;
        }

        @Override
        public void start(Listener<A> listener, Metadata headers) {
            sender = listener;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String why, @Nullable Throwable cause) {}

        @Override
        public void sendMessage(Q sent) {
            message = sent;
        }

        @Override
        public void halfClose() {
            late.complete(this);
            Listener<A> told = sender;
            if (told != null) {
                told.onClose(Status.UNAVAILABLE.withDescription("held up by the test"), new Metadata());
            }
        }

        @Override
        public CompletableFuture<Status> arrives() {
            CompletableFuture<Status> executed = new CompletableFuture<>();
            ClientCall<Q, A> call = real.get();
            call.start(
                    new Listener<>() {
                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            executed.complete(status);
                        }
                    },
                    new Metadata());
            call.request(2);
            call.sendMessage(message);
            call.halfClose();
            return executed;
        }
    }
}
