// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts a client's requests by etcd's method names, and can delay or fail single requests. */
final class Wire implements ClientInterceptor {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    private final AtomicInteger watching = new AtomicInteger();
    private final AtomicInteger streams = new AtomicInteger();
    private final Map<String, Queue<Runnable>> before = new ConcurrentHashMap<>();
    private final Map<String, Status> failing = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Delay> delaying = new AtomicReference<>();

    /** The next request of that name waits until it is let go. */
    private record Delay(String method, CompletableFuture<DelayedRequest> delayed) {}

    /** A delayed request that has not arrived yet. */
    interface DelayedRequest {
        /** Lets the request arrive; completes when the server has executed it. */
        CompletableFuture<Status> arrive();
    }

    /** Returns how often each method was called; a stream counts once. */
    Map<String, Integer> counts() {
        return new TreeMap<>(counts);
    }

    /** Returns how many watches were created and have not ended. */
    int watching() {
        return watching.get();
    }

    /** Returns how many watch streams have not ended. */
    int streams() {
        return streams.get();
    }

    /** Returns whether the session of a newly opened client is watched and has been read. */
    boolean sessionIsWatched() {
        int beforeSession = 1; // the first request of a connection
        return watching() > 0 && counts.getOrDefault("Range", 0) > beforeSession;
    }

    /**
     * Runs tasks before requests of that name: the first task before the next request, and so on. A task may block: the thread that
     * sends does not wait for it, since that may be the one which brings the replies for which the task waits.
     */
    void before(String method, Runnable... tasks) {
        before.put(method, new ConcurrentLinkedQueue<>(List.of(tasks)));
    }

    /** Does not send the next request of that name, and completes it with this reply. */
    void replyToNext(String method, Status reply) {
        failing.put(method, reply);
    }

    void reset() {
        counts.clear();
    }

    /** Delays the next request of that name, and tells its sender that there was no reply. */
    CompletableFuture<DelayedRequest> delayNext(String method) {
        Delay delay = new Delay(method, new CompletableFuture<>());
        delaying.set(delay);
        return delay.delayed;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        String name = String.valueOf(method.getBareMethodName());
        counts.merge(name, 1, Integer::sum);
        Runnable task = before.getOrDefault(name, new ArrayDeque<>()).poll();
        return task == null
                ? call(name, method, options, next)
                : new Postponed<>(
                        CompletableFuture.runAsync(task).thenApply(done -> call(name, method, options, next)));
    }

    private <Q, A> ClientCall<Q, A> call(
            String name, MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        Status failure = failing.remove(name);
        if (failure != null) {
            return new Replied<>(failure);
        }
        if (name.equals("Watch")) {
            streams.incrementAndGet();
            return new Counted<>(next.newCall(method, options));
        }
        Delay delay = delaying.get();
        return delay != null && name.equals(delay.method) && delaying.compareAndSet(delay, null)
                ? new Delayed<>(delay.delayed, () -> next.newCall(method, options.withDeadline(null)))
                : next.newCall(method, options);
    }

    private final class Counted<Q, A> extends SimpleForwardingClientCall<Q, A> {
        private final AtomicInteger watches = new AtomicInteger();

        Counted(ClientCall<Q, A> real) {
            super(real);
        }

        @Override
        public void start(Listener<A> listener, Metadata headers) {
            super.start(
                    new SimpleForwardingClientCallListener<>(listener) {
                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            streams.decrementAndGet();
                            watching.addAndGet(-watches.getAndSet(0));
                            super.onClose(status, trailers);
                        }
                    },
                    headers);
        }

        @Override
        public void sendMessage(Q sent) {
            if (sent instanceof WatchRequest request) {
                int more = request.hasCreateRequest() ? 1 : request.hasCancelRequest() ? -1 : 0;
                watches.addAndGet(more);
                watching.addAndGet(more);
            }
            super.sendMessage(sent);
        }
    }

    /** Does in their order, once the real call is there, all that is asked of it. */
    private static final class Postponed<Q, A> extends ClientCall<Q, A> {
        @GuardedBy("this")
        private CompletableFuture<ClientCall<Q, A>> real;

        Postponed(CompletableFuture<ClientCall<Q, A>> real) {
            this.real = real;
        }

        private synchronized void then(Consumer<ClientCall<Q, A>> action) {
            real = real.thenApply(call -> {
                action.accept(call);
                return call;
            });
        }

        @Override
        public synchronized void start(Listener<A> listener, Metadata headers) {
            then(call -> call.start(listener, headers));
            real.exceptionally(failure -> {
                listener.onClose(
                        Status.UNKNOWN.withDescription("the task failed").withCause(failure), new Metadata());
                return null;
            });
        }

        @Override
        public void request(int messages) {
            then(call -> call.request(messages));
        }

        @Override
        public void cancel(@Nullable String why, @Nullable Throwable cause) {
            then(call -> call.cancel(why, cause));
        }

        @Override
        public void sendMessage(Q sent) {
            then(call -> call.sendMessage(sent));
        }

        @Override
        public void halfClose() {
            then(ClientCall::halfClose);
        }
    }

    private static final class Replied<Q, A> extends ClientCall<Q, A> {
        private final Status reply;

        Replied(Status reply) {
            this.reply = reply;
        }

        @Override
        public void start(Listener<A> listener, Metadata headers) {
            listener.onClose(reply, new Metadata());
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String why, @Nullable Throwable cause) {}

        @Override
        public void sendMessage(Q sent) {}

        @Override
        public void halfClose() {}
    }

    private static final class Delayed<Q, A> extends ClientCall<Q, A> implements DelayedRequest {
        private final CompletableFuture<DelayedRequest> delayed;
        private final Supplier<ClientCall<Q, A>> real;
        private @Nullable Listener<A> sender;
        private @Nullable Q message;

        Delayed(CompletableFuture<DelayedRequest> delayed, Supplier<ClientCall<Q, A>> real) {
            this.delayed = delayed;
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
            delayed.complete(this);
            Listener<A> listener = sender;
            if (listener != null) {
                listener.onClose(Status.UNAVAILABLE.withDescription("held up by the test"), new Metadata());
            }
        }

        @Override
        public CompletableFuture<Status> arrive() {
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
