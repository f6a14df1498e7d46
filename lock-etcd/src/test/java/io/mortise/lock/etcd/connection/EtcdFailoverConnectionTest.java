// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.MemberListResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests when a client leaves a member for the next one. No server listens at the members' addresses. See ADR 0035. */
class EtcdFailoverConnectionTest {
    private static final Duration TRY_TIMEOUT = Duration.ofMillis(1_250);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private final ManualClock clock = new ManualClock();
    private final Queue<Runnable> failovers = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> threadFailures = new ConcurrentLinkedQueue<>();
    private boolean isOpen;
    private int renewals;
    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            EtcdFailoverConnectionTest.class.getClassLoader(),
            new Class<?>[] {BackendContext.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> clock;
                case "connectTimeout", "requestTimeout" -> Duration.ofSeconds(5);
                case "withRequestTimeout" -> arguments[1];
                case "blocking" -> isOpen ? (Executor) this::startThread : (Executor) Runnable::run;
                case "renewNow" -> {
                    renewals++;
                    yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final EtcdFailoverConnection connection = new EtcdFailoverConnection(
            new EtcdSettings(
                    List.of("127.0.0.1:1", "127.0.0.1:2"),
                    Optional.empty(),
                    "mortise/",
                    Duration.ofSeconds(15),
                    Optional.empty(),
                    Optional.empty(),
                    List.of(new LocalReplies())),
            context);
    private final EtcdRequestSender requests = new EtcdRequestSender(connection, context);

    /** Answers the requests that a member serves although it is cut off from the others. */
    private static final class LocalReplies implements ClientInterceptor {
        private static final Map<String, MessageLite> REPLIES = Map.of(
                LeaseGrpc.getLeaseKeepAliveMethod().getFullMethodName(),
                LeaseKeepAliveResponse.newBuilder().setID(1).setTTL(15).build(),
                ClusterGrpc.getMemberListMethod().getFullMethodName(),
                MemberListResponse.getDefaultInstance());

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            MessageLite reply = REPLIES.get(method.getFullMethodName());
            return reply == null ? next.newCall(method, options) : new AnsweredCall<>(method, reply);
        }
    }

    /** A call whose request is answered at once. */
    private static final class AnsweredCall<Q, A> extends ClientCall<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private final MessageLite reply;
        private @Nullable Listener<A> listener;

        AnsweredCall(MethodDescriptor<Q, A> method, MessageLite reply) {
            this.method = method;
            this.reply = reply;
        }

        @Override
        public void start(Listener<A> target, Metadata headers) {
            listener = target;
        }

        @Override
        public void sendMessage(Q message) {
            Objects.requireNonNull(listener)
                    .onMessage(method.parseResponse(reply.toByteString().newInput()));
        }

        @Override
        public void halfClose() {
            Objects.requireNonNull(listener).onClose(Status.OK, new Metadata());
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {}
    }

    private void startThread(Runnable failover) {
        if (threadFailures.poll() instanceof Error failure) {
            throw failure;
        }
        failovers.add(failover);
    }

    @BeforeEach
    void open() {
        connection.open();
        isOpen = true;
    }

    @AfterEach
    void close() {
        connection.close();
    }

    /** Sends a request that times out; meanwhile another response arrives, or not. */
    private void timeOut(EtcdMemberConnection member, boolean responded) {
        clock.advance(INSTANT);
        MonotonicInstant sent = clock.now();
        clock.advance(TRY_TIMEOUT);
        if (responded) {
            member.onResponse();
        }
        connection.onTimeout(member, sent);
    }

    private void runFailover() {
        assertThat(failovers).hasSize(1);
        failovers.remove().run();
    }

    @Test
    void S15_anUnresponsiveMemberIsLeftForTheNextOneAndTheMembersTakeTurns() {
        EtcdMemberConnection first = connection.current();
        timeOut(first, false);
        timeOut(first, false); // the failover is in progress already
        runFailover();
        EtcdMemberConnection second = connection.current();
        assertThat(second.endpoints()).isNotEqualTo(first.endpoints());
        timeOut(first, false); // that member is no longer in use
        assertThat(failovers).isEmpty();
        timeOut(second, false);
        runFailover();
        assertThat(connection.current().endpoints()).isEqualTo(first.endpoints());
    }

    @Test
    void S15_aFailoverForWhichThereWasNoThreadIsTriedAgain() {
        threadFailures.add(new StackOverflowError("as planned"));
        timeOut(connection.current(), false);
        assertThat(failovers).isEmpty();
        timeOut(connection.current(), false);
        runFailover();
    }

    private void reportNoLeader(EtcdMemberConnection member, Duration later) {
        clock.advance(later);
        connection.onNotServed(member);
    }

    /**
     * As during an election, when another member would know no more. After that the member must be cut off from the leader,
     * in one direction at least.
     */
    @Test
    void S15_aMemberThatTimesOutButRespondsIsKeptForAnElection() {
        EtcdMemberConnection first = connection.current();
        timeOut(first, true);
        timeOut(first, true);
        assertThat(failovers).isEmpty();
        timeOut(first, true);
        runFailover();
        assertThat(connection.current().endpoints()).isNotEqualTo(first.endpoints());
    }

    private void timeOutBetweenRepliesTo(Supplier<CompletionStage<?>> answered) {
        for (int i = 0; i < 3; i++) {
            assertThat(answered.get()).succeedsWithin(Duration.ofSeconds(30));
            assertThat(failovers).isEmpty();
            timeOut(connection.current(), true);
        }
    }

    /** The member passes keepalives on to the leader. */
    @Test
    void S07_aMemberThatOnlyPassesKeepalivesOnIsLeft() {
        timeOutBetweenRepliesTo(() -> requests.keepAlive(1));
        runFailover();
    }

    /** The member answers from its memory. */
    @Test
    void S15_aMemberThatOnlyListsTheMembersIsLeft() {
        timeOutBetweenRepliesTo(requests::members);
        runFailover();
    }

    /** A failover would lose the requests in flight, and find a store that is as slow. */
    @Test
    void S15_aMemberThatServesRequestsLateIsKept() {
        EtcdMemberConnection first = connection.current();
        for (int i = 0; i < 10; i++) {
            timeOut(first, true);
            connection.onReply(first, clock.now().minus(TRY_TIMEOUT));
        }
        assertThat(failovers).isEmpty();
        assertThat(connection.current()).isSameAs(first);
    }

    /** As after an outage in which it got a request that it never answers: it serves all others. */
    @Test
    void S15_aMemberThatServesLaterRequestsIsKeptWhenAnEarlierOneTimesOut() {
        EtcdMemberConnection first = connection.current();
        MonotonicInstant sent = clock.now();
        clock.advance(Duration.ofSeconds(4));
        connection.onReply(first, clock.now());
        clock.advance(Duration.ofSeconds(1));
        connection.onTimeout(first, sent);
        assertThat(failovers).isEmpty();
        timeOut(first, true);
        assertThat(failovers).isEmpty();
        timeOut(first, true);
        assertThat(failovers).as("3 s after the last one that it served").hasSize(1);
    }

    @Test
    void S07_aMemberWithoutLeaderForATryTimeoutIsLeftAndTheSessionRenewedAtOnce() {
        EtcdMemberConnection first = connection.current();
        reportNoLeader(first, INSTANT);
        reportNoLeader(first, TRY_TIMEOUT.minus(INSTANT));
        assertThat(failovers).isEmpty();
        reportNoLeader(first, INSTANT);
        assertThat(renewals).isZero();
        runFailover();
        assertThat(connection.current().endpoints()).isNotEqualTo(first.endpoints());
        assertThat(renewals).isEqualTo(1);
    }

    @Test
    void S15_aMemberThatServesBetweenElectionsIsKept() {
        EtcdMemberConnection first = connection.current();
        for (int i = 0; i < 10; i++) {
            reportNoLeader(first, TRY_TIMEOUT.dividedBy(2));
            reportNoLeader(first, TRY_TIMEOUT.dividedBy(4));
            connection.onReply(first, clock.now());
        }
        assertThat(failovers).isEmpty();
    }

    /** No member has a leader: each further failover would cost a new client, and find the same. */
    @Test
    void S15_whileNoMemberKnowsALeaderEachIsUsedForOneRequestTimeout() {
        reportNoLeader(connection.current(), INSTANT);
        reportNoLeader(connection.current(), TRY_TIMEOUT);
        runFailover();
        reportNoLeader(connection.current(), INSTANT);
        reportNoLeader(connection.current(), Duration.ofSeconds(5).minus(INSTANT));
        assertThat(failovers).isEmpty();
        reportNoLeader(connection.current(), INSTANT);
        runFailover();
    }

    @Test
    void S11_aMemberWithASilentWatchStreamIsLeftEvenWithoutRequests() {
        EtcdMemberConnection first = connection.current();
        first.onSilent();
        runFailover();
        assertThat(connection.current().endpoints()).isNotEqualTo(first.endpoints());
    }
}
