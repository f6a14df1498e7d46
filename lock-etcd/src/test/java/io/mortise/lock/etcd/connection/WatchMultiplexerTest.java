// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests what is sent over the one watch stream, and when the stream ends; the test acts as the server. See ADR 0034. */
class WatchMultiplexerTest {
    private static final Duration TICK = Duration.ofMillis(700);
    private static final WatchRequest CREATE = WatchRequest.newBuilder()
            .setCreateRequest(WatchCreateRequest.getDefaultInstance())
            .build();

    private final ManualClock clock = new ManualClock();
    private final List<Stream> streams = new ArrayList<>();
    private int silentCount;
    private final WatchMultiplexer watches = new WatchMultiplexer(clock, new WatchMultiplexer.MemberListener() {
        @Override
        public void onResponse() {}

        @Override
        public void onSilent() {
            silentCount++;
        }
    });

    /** The stream as the server sees it. */
    private static final class Stream extends ClientCall<WatchRequest, WatchResponse> {
        private final List<WatchRequest> sent = new ArrayList<>();
        private @Nullable Listener<WatchResponse> client;
        private boolean responsive;
        private boolean ended;

        @Override
        public void start(Listener<WatchResponse> listener, Metadata headers) {
            client = listener;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String why, @Nullable Throwable cause) {
            if (!ended) {
                ended = true;
                listener().onClose(Status.CANCELLED.withDescription(why), new Metadata());
            }
        }

        @Override
        public void halfClose() {}

        @Override
        public void sendMessage(WatchRequest request) {
            sent.add(request);
            if (responsive && request.hasProgressRequest()) {
                respond(WatchResponse.newBuilder().setWatchId(-1));
            }
        }

        private Listener<WatchResponse> listener() {
            return Objects.requireNonNull(client);
        }

        void respond(WatchResponse.Builder response) {
            listener().onMessage(response.build());
        }

        void confirm(long id) {
            respond(WatchResponse.newBuilder().setCreated(true).setWatchId(id));
        }

        long count(WatchRequest.RequestUnionCase kind) {
            return sent.stream()
                    .filter(request -> request.getRequestUnionCase() == kind)
                    .count();
        }

        List<Long> cancelled() {
            return sent.stream()
                    .filter(WatchRequest::hasCancelRequest)
                    .map(WatchRequest::getCancelRequest)
                    .map(WatchCancelRequest::getWatchId)
                    .toList();
        }
    }

    /** The listener that jetcd has for one watch. */
    private static final class WatchListener extends ClientCall.Listener<WatchResponse> {
        private final List<WatchResponse> received = new ArrayList<>();
        private @Nullable Status closed;

        @Override
        public void onMessage(WatchResponse response) {
            received.add(response);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            closed = status;
        }
    }

    private final Channel channel = new Channel() {
        @Override
        @SuppressWarnings("unchecked") // only watches are created
        public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
            Stream stream = new Stream();
            streams.add(stream);
            return (ClientCall<Q, A>) (ClientCall<?, ?>) stream;
        }

        @Override
        public String authority() {
            return "test";
        }
    };

    private ClientCall<WatchRequest, WatchResponse> watch(WatchListener watched) {
        ClientCall<WatchRequest, WatchResponse> call =
                watches.interceptCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT, channel);
        call.start(watched, new Metadata());
        call.sendMessage(CREATE);
        return call;
    }

    private Stream stream() {
        assertThat(streams).hasSize(1);
        return streams.get(0);
    }

    @Test
    void S07_aConfirmationBelongsToTheOldestWatchAndEachWatchGetsItsOwnEvents() {
        WatchListener first = new WatchListener();
        WatchListener second = new WatchListener();
        watch(first);
        watch(second);
        stream().confirm(7);
        assertThat(first.received).hasSize(1);
        assertThat(second.received).isEmpty();
        stream().confirm(3);
        stream().respond(WatchResponse.newBuilder().setWatchId(3));
        assertThat(first.received).hasSize(1);
        assertThat(second.received).hasSize(2);
    }

    @Test
    void S07_aStreamThatRespondsIsKeptHoweverFewEventsItCarries() {
        WatchListener watched = new WatchListener();
        watch(watched);
        stream().responsive = true;
        stream().confirm(0);
        clock.advance(Duration.ofMinutes(1));
        assertThat(watched.closed).isNull();
        assertThat(silentCount).isZero();
        assertThat(stream().count(WatchRequest.RequestUnionCase.PROGRESS_REQUEST))
                .as("one progress request every second tick")
                .isBetween(40L, 45L);
    }

    @Test
    void S11_aStreamWithoutResponsesEndsAfterTwoProgressRequestsAndReportsIt() {
        WatchListener watched = new WatchListener();
        watch(watched);
        stream().confirm(0);
        clock.advance(TICK.multipliedBy(4).minusMillis(1));
        assertThat(silentCount).isZero();
        assertThat(stream().count(WatchRequest.RequestUnionCase.PROGRESS_REQUEST))
                .isEqualTo(2);
        clock.advance(Duration.ofMillis(1));
        assertThat(silentCount).isEqualTo(1);
        assertThat(watched.closed).isNotNull();
        clock.advance(Duration.ofMinutes(1));
        assertThat(silentCount).isEqualTo(1);
        assertThat(clock.timerCount()).isZero();
    }

    /** The first late timer finds no response; responses that have arrived meanwhile are read before the next timer. */
    @Test
    void S11_aPauseOfThisProcessDoesNotEndTheStream() {
        WatchListener watched = new WatchListener();
        watch(watched);
        stream().responsive = true;
        stream().confirm(0);
        for (int i = 0; i < 10; i++) {
            clock.advanceThenRunTimers(Duration.ofMinutes(1));
        }
        assertThat(watched.closed).isNull();
        assertThat(silentCount).isZero();
    }

    private static WatchResponse.Builder refusal() {
        return WatchResponse.newBuilder()
                .setCreated(true)
                .setCanceled(true)
                .setWatchId(-1)
                .setCancelReason("etcdserver: invalid auth token");
    }

    /**
     * The server checks each new watch against the token with which the stream was opened, and would keep refusing. It serves those
     * that it has.
     */
    @Test
    void S07_aRefusedWatchSendsTheNextOnesOverAnotherStreamAndKeepsTheOldOnes() {
        WatchListener other = new WatchListener();
        WatchListener refused = new WatchListener();
        ClientCall<WatchRequest, WatchResponse> kept = watch(other);
        stream().confirm(0);
        watch(refused);
        watch(new WatchListener());
        stream().respond(refusal());
        assertThat(refused.received).hasSize(1);
        assertThat(other.closed).isNull();
        watch(new WatchListener());
        assertThat(streams).hasSize(2);
        assertThat(streams.get(1).count(WatchRequest.RequestUnionCase.CREATE_REQUEST))
                .isEqualTo(1);
        Stream old = streams.get(0);
        old.respond(WatchResponse.newBuilder().setWatchId(0));
        assertThat(other.received).hasSize(2);
        kept.cancel("closed", null);
        assertThat(old.ended).as("a watch has no confirmation yet").isFalse();
        old.respond(refusal());
        assertThat(old.ended).isTrue();
        assertThat(streams.get(1).ended).isFalse();
    }

    @Test
    void S17_aRetiredStreamEndsWhenTheServerCancelsItsLastWatch() {
        watch(new WatchListener());
        stream().confirm(0);
        watch(new WatchListener());
        stream().respond(refusal());
        assertThat(stream().ended).isFalse();
        stream().respond(WatchResponse.newBuilder().setWatchId(0).setCanceled(true));
        assertThat(stream().ended).isTrue();
    }

    @Test
    void S17_aWatchThatIsClosedBeforeItsConfirmationIsCancelledAfterIt() {
        WatchListener other = new WatchListener();
        watch(other);
        stream().confirm(0);
        ClientCall<WatchRequest, WatchResponse> closed = watch(new WatchListener());
        closed.cancel("closed", null);
        assertThat(stream().cancelled()).as("the server chooses the id").isEmpty();
        stream().confirm(5);
        assertThat(stream().cancelled()).containsExactly(5L);
        assertThat(other.closed).isNull();
    }

    @Test
    void S17_theStreamEndsWithItsLastWatch() {
        ClientCall<WatchRequest, WatchResponse> first = watch(new WatchListener());
        ClientCall<WatchRequest, WatchResponse> second = watch(new WatchListener());
        stream().confirm(0);
        stream().confirm(1);
        first.cancel("closed", null);
        assertThat(stream().cancelled()).containsExactly(0L);
        assertThat(stream().ended).isFalse();
        second.cancel("closed", null);
        assertThat(stream().ended).isTrue();
        clock.advance(Duration.ofMinutes(1));
        assertThat(silentCount).isZero();
        assertThat(clock.timerCount()).isZero();
    }
}
