// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One gRPC stream with any number of watches; when it breaks, all of them end. A stream that has been silent for a while is
 * asked for its progress; one that answers nothing is ended, since a member that was stopped leaves its connections open.
 */
final class WatchStream extends ClientCall.Listener<WatchResponse> {
    private static final Logger log = LoggerFactory.getLogger(WatchStream.class);

    /** Counted in ticks and not in time: a pause of this process is one tick, after which there is time to read the answer. */
    private static final Duration TICK = Duration.ofMillis(700);

    private static final int QUESTIONS = 2;

    private static final WatchRequest QUESTION = WatchRequest.newBuilder()
            .setProgressRequest(WatchProgressRequest.getDefaultInstance())
            .build();

    private final LockClock clock;
    private final SynchronizationContext sends;
    private final WatchMultiplexer.MemberListener listener;
    private final ClientCall<WatchRequest, WatchResponse> call;
    private final Metadata headers;
    private final Map<Long, WatchMultiplexer.WatchCall> watches = new ConcurrentHashMap<>();

    /** In the order in which they were sent, in which the server answers. */
    private final Queue<WatchMultiplexer.WatchCall> unconfirmed = new ConcurrentLinkedQueue<>();

    /** No more watches are created on it. */
    private volatile boolean over;

    private volatile @Nullable Closed closed;
    private volatile boolean heard;
    private int unanswered; // of the clock's thread

    private record Closed(Status status, Metadata trailers) {}

    WatchStream(
            LockClock clock,
            SynchronizationContext sends,
            WatchMultiplexer.MemberListener listener,
            ClientCall<WatchRequest, WatchResponse> call,
            Metadata headers) {
        this.clock = clock;
        this.sends = sends;
        this.listener = listener;
        this.call = call;
        this.headers = headers;
    }

    /** Like all that sends, called within {@code sends} only. */
    void start() {
        call.start(this, headers);
        call.request(1);
        clock.schedule(TICK, this::tick);
    }

    boolean hasEnded() {
        return over;
    }

    void create(WatchMultiplexer.WatchCall watch, WatchRequest request) {
        unconfirmed.add(watch);
        call.sendMessage(request);
        if (closed != null) {
            endAll();
        }
    }

    /** One that is yet to be confirmed is cancelled then: the server chooses the ids. */
    void cancel(WatchMultiplexer.WatchCall watch) {
        if (!watches.remove(watch.id(), watch) || over) {
            return;
        }
        if (watches.isEmpty() && unconfirmed.isEmpty()) {
            end("no watch is left");
        } else {
            call.sendMessage(WatchRequest.newBuilder()
                    .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(watch.id()))
                    .build());
        }
    }

    private void end(String why) {
        if (!over) {
            over = true;
            call.cancel(why, null);
        }
    }

    private void tick() {
        if (over) {
            return;
        }
        if (heard) {
            heard = false;
            unanswered = 0;
        } else if (unanswered == QUESTIONS) {
            sends.execute(() -> end("the server does not answer"));
            listener.silent();
            return;
        } else {
            unanswered++;
            sends.execute(() -> {
                if (!over) {
                    call.sendMessage(QUESTION);
                }
            });
        }
        clock.schedule(TICK, this::tick);
    }

    @Override
    public void onMessage(WatchResponse response) {
        heard = true;
        listener.heard();
        call.request(1);
        if (response.getCreated()) {
            confirmed(response);
            return;
        }
        long id = response.getWatchId();
        WatchMultiplexer.WatchCall watch = response.getCanceled() ? watches.remove(id) : watches.get(id);
        if (watch != null) {
            watch.deliver(response);
        }
    }

    private void confirmed(WatchResponse response) {
        WatchMultiplexer.WatchCall watch = unconfirmed.peek();
        if (watch == null) {
            return;
        }
        if (!response.getCanceled()) {
            watch.confirmed(response.getWatchId());
            watches.put(response.getWatchId(), watch);
        }
        unconfirmed.remove(); // it is never in neither
        watch.deliver(response);
        if (response.getCanceled()) {
            // The server judges each watch by the token with which the stream was opened, and that may be too old by
            // now.
            sends.execute(() -> end("a watch was refused: " + response.getCancelReason()));
        } else if (watch.isCancelled()) {
            sends.execute(() -> cancel(watch));
        }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        over = true;
        closed = new Closed(status, trailers);
        int told = watches.size() + unconfirmed.size();
        if (told > 0) {
            log.debug("event=watch-stream-ended watches={} cause=\"{}\"", told, status);
        }
        endAll();
    }

    private void endAll() {
        Closed told = closed;
        if (told != null) {
            watches.forEach((id, watch) -> {
                if (watches.remove(id, watch)) {
                    watch.close(told.status, told.trailers);
                }
            });
            WatchMultiplexer.WatchCall next = unconfirmed.poll();
            while (next != null) {
                next.close(told.status, told.trailers);
                next = unconfirmed.poll();
            }
        }
    }
}
