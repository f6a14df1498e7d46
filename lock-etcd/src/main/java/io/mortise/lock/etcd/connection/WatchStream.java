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
 * One gRPC stream that carries any number of watches and checks that the member still responds. When it breaks, all of its
 * watches end. When it has been silent for a while, it sends progress requests; it ends if none gets a response, since a
 * stopped member leaves its connections open.
 */
final class WatchStream extends ClientCall.Listener<WatchResponse> {
    private static final Logger log = LoggerFactory.getLogger(WatchStream.class);

    /**
     * Silence is counted in ticks and not in time: a pause of this process is one tick, after which there is time to read
     * responses.
     */
    private static final Duration TICK = Duration.ofMillis(700);

    private static final int MAX_UNANSWERED = 2;

    private static final WatchRequest PROGRESS_REQUEST = WatchRequest.newBuilder()
            .setProgressRequest(WatchProgressRequest.getDefaultInstance())
            .build();

    private final LockClock clock;
    private final SynchronizationContext sends;
    private final WatchMultiplexer.MemberListener listener;
    private final ClientCall<WatchRequest, WatchResponse> call;
    private final Metadata headers;
    private final Map<Long, WatchMultiplexer.WatchCall> watches = new ConcurrentHashMap<>();

    /** Watches in the order in which they were sent, which is the order of the server's confirmations. */
    private final Queue<WatchMultiplexer.WatchCall> unconfirmed = new ConcurrentLinkedQueue<>();

    private volatile boolean ended;

    /** Whether the stream accepts no more watches, and ends with its last one. */
    private boolean retired; // accessed in sends only

    private volatile @Nullable Closed closed;
    private volatile boolean responded;
    private int unansweredRequests; // accessed on the clock's thread

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

    /** Starts the stream. Like all methods that send, it is called within {@code sends} only. */
    void start() {
        call.start(this, headers);
        call.request(1);
        clock.schedule(TICK, this::tick);
    }

    boolean acceptsWatches() {
        return !ended && !retired;
    }

    void create(WatchMultiplexer.WatchCall watch, WatchRequest request) {
        unconfirmed.add(watch);
        call.sendMessage(request);
        if (closed != null) {
            endAll();
        }
    }

    /**
     * Cancels a watch. A watch that is not confirmed yet is cancelled after its confirmation, since the server chooses the
     * ids.
     */
    void cancel(WatchMultiplexer.WatchCall watch) {
        if (!watches.remove(watch.id(), watch) || ended) {
            return;
        }
        if (isUnused()) {
            end("the stream carries no more watches");
        } else {
            call.sendMessage(WatchRequest.newBuilder()
                    .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(watch.id()))
                    .build());
        }
    }

    /** The server checks each new watch against the token with which the stream was opened, and continues those it has. */
    private void retire() {
        retired = true;
        endIfUnused();
    }

    private void endIfUnused() {
        if (retired && isUnused()) {
            end("the stream carries no more watches");
        }
    }

    /** Asks in this order: a watch that is being confirmed is in the one until it is in the other. */
    private boolean isUnused() {
        return unconfirmed.isEmpty() && watches.isEmpty();
    }

    private void end(String why) {
        if (!ended) {
            ended = true;
            call.cancel(why, null);
        }
    }

    private void tick() {
        if (ended) {
            return;
        }
        if (responded) {
            responded = false;
            unansweredRequests = 0;
        } else if (unansweredRequests == MAX_UNANSWERED) {
            sends.execute(() -> end("the server does not respond"));
            listener.onSilent();
            return;
        } else {
            unansweredRequests++;
            sends.execute(() -> {
                if (!ended) {
                    call.sendMessage(PROGRESS_REQUEST);
                }
            });
        }
        clock.schedule(TICK, this::tick);
    }

    @Override
    public void onMessage(WatchResponse response) {
        responded = true;
        listener.onResponse();
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
        if (response.getCanceled()) {
            sends.execute(this::endIfUnused);
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
        unconfirmed.remove(); // only now, so that the watch is always in one of the two collections
        watch.deliver(response);
        if (response.getCanceled()) {
            log.debug("event=watch-refused reason=\"{}\"", response.getCancelReason());
            sends.execute(this::retire); // the token may be too old by now
        } else if (watch.isCancelled()) {
            sends.execute(() -> cancel(watch));
        }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        ended = true;
        closed = new Closed(status, trailers);
        int watchCount = watches.size() + unconfirmed.size();
        if (watchCount > 0) {
            log.debug("event=watch-stream-ended watches={} cause=\"{}\"", watchCount, status);
        }
        endAll();
    }

    private void endAll() {
        Closed reason = closed;
        if (reason != null) {
            watches.forEach((id, watch) -> {
                if (watches.remove(id, watch)) {
                    watch.close(reason.status, reason.trailers);
                }
            });
            WatchMultiplexer.WatchCall next = unconfirmed.poll();
            while (next != null) {
                next.close(reason.status, reason.trailers);
                next = unconfirmed.poll();
            }
        }
    }
}
