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

/** ADR 0034: what goes over the one stream, and when it ends; the test is the server. */
class WatchMultiplexerTest {
    private static final Duration TICK = Duration.ofMillis(700);
    private static final WatchRequest CREATE = WatchRequest.newBuilder()
            .setCreateRequest(WatchCreateRequest.getDefaultInstance())
            .build();

    private final ManualClock clock = new ManualClock();
    private final List<Stream> streams = new ArrayList<>();
    private int silences;
    private final WatchMultiplexer watches = new WatchMultiplexer(clock, new WatchMultiplexer.MemberListener() {
        @Override
        public void heard() {}

        @Override
        public void silent() {
            silences++;
        }
    });

    /** As the server sees it. */
    private static final class Stream extends ClientCall<WatchRequest, WatchResponse> {
        private final List<WatchRequest> sent = new ArrayList<>();
        private @Nullable Listener<WatchResponse> client;
        private boolean answers;
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
            if (answers && request.hasProgressRequest()) {
                say(WatchResponse.newBuilder().setWatchId(-1));
            }
        }

        private Listener<WatchResponse> listener() {
            return Objects.requireNonNull(client);
        }

        void say(WatchResponse.Builder response) {
            listener().onMessage(response.build());
        }

        void confirm(long id) {
            say(WatchResponse.newBuilder().setCreated(true).setWatchId(id));
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

    /** What jetcd has of one watch. */
    private static final class Watched extends ClientCall.Listener<WatchResponse> {
        private final List<WatchResponse> told = new ArrayList<>();
        private @Nullable Status closed;

        @Override
        public void onMessage(WatchResponse response) {
            told.add(response);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            closed = status;
        }
    }

    private final Channel channel = new Channel() {
        @Override
        @SuppressWarnings("unchecked") // there are watches alone
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

    private ClientCall<WatchRequest, WatchResponse> watch(Watched watched) {
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
    void S07_aConfirmationIsThatOfTheOldestAndEachHearsItsOwn() {
        Watched first = new Watched();
        Watched second = new Watched();
        watch(first);
        watch(second);
        stream().confirm(7);
        assertThat(first.told).hasSize(1);
        assertThat(second.told).isEmpty();
        stream().confirm(3);
        stream().say(WatchResponse.newBuilder().setWatchId(3));
        assertThat(first.told).hasSize(1);
        assertThat(second.told).hasSize(2);
    }

    @Test
    void S07_aStreamThatAnswersIsKeptHoweverLittleHappensOnIt() {
        Watched watched = new Watched();
        watch(watched);
        stream().answers = true;
        stream().confirm(0);
        clock.advance(Duration.ofMinutes(1));
        assertThat(watched.closed).isNull();
        assertThat(silences).isZero();
        assertThat(stream().count(WatchRequest.RequestUnionCase.PROGRESS_REQUEST))
                .as("one question each second tick")
                .isBetween(40L, 45L);
    }

    @Test
    void S11_aStreamThatAnswersNothingEndsAfterTwoQuestionsAndTellsOfIt() {
        Watched watched = new Watched();
        watch(watched);
        stream().confirm(0);
        clock.advance(TICK.multipliedBy(4).minusMillis(1));
        assertThat(silences).isZero();
        assertThat(stream().count(WatchRequest.RequestUnionCase.PROGRESS_REQUEST))
                .isEqualTo(2);
        clock.advance(Duration.ofMillis(1));
        assertThat(silences).isEqualTo(1);
        assertThat(watched.closed).isNotNull();
        clock.advance(Duration.ofMinutes(1));
        assertThat(silences).isEqualTo(1);
        assertThat(clock.timers()).isZero();
    }

    /** The first late timer finds that nothing was heard; what has arrived meanwhile is read before the next one. */
    @Test
    void S11_aPauseOfThisProcessIsNoSilence() {
        Watched watched = new Watched();
        watch(watched);
        stream().answers = true;
        stream().confirm(0);
        for (int i = 0; i < 10; i++) {
            clock.jump(Duration.ofMinutes(1));
        }
        assertThat(watched.closed).isNull();
        assertThat(silences).isZero();
    }

    /** The server judges it by the token with which the stream was opened, and would go on refusing. */
    @Test
    void S07_aWatchThatIsRefusedEndsTheStreamAndTheNextOneOpensAnother() {
        Watched other = new Watched();
        Watched refused = new Watched();
        Watched unanswered = new Watched();
        watch(other);
        stream().confirm(0);
        watch(refused);
        watch(unanswered);
        stream()
                .say(WatchResponse.newBuilder()
                        .setCreated(true)
                        .setCanceled(true)
                        .setWatchId(-1)
                        .setCancelReason("etcdserver: invalid auth token"));
        assertThat(refused.told).hasSize(1);
        assertThat(stream().ended).isTrue();
        assertThat(other.closed).isNotNull();
        assertThat(unanswered.closed).isNotNull();
        watch(new Watched());
        assertThat(streams).hasSize(2);
        assertThat(streams.get(1).count(WatchRequest.RequestUnionCase.CREATE_REQUEST))
                .isEqualTo(1);
    }

    @Test
    void S17_aWatchThatIsGivenUpBeforeItsConfirmationIsCancelledByIt() {
        Watched other = new Watched();
        watch(other);
        stream().confirm(0);
        ClientCall<WatchRequest, WatchResponse> givenUp = watch(new Watched());
        givenUp.cancel("closed", null);
        assertThat(stream().cancelled()).as("the server chooses the id").isEmpty();
        stream().confirm(5);
        assertThat(stream().cancelled()).containsExactly(5L);
        assertThat(other.closed).isNull();
    }

    @Test
    void S17_theStreamEndsWithItsLastWatch() {
        ClientCall<WatchRequest, WatchResponse> first = watch(new Watched());
        ClientCall<WatchRequest, WatchResponse> second = watch(new Watched());
        stream().confirm(0);
        stream().confirm(1);
        first.cancel("closed", null);
        assertThat(stream().cancelled()).containsExactly(0L);
        assertThat(stream().ended).isFalse();
        second.cancel("closed", null);
        assertThat(stream().ended).isTrue();
        clock.advance(Duration.ofMinutes(1));
        assertThat(silences).isZero();
        assertThat(clock.timers()).isZero();
    }
}
