// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.PendingEtcdClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.SessionLockQueue;
import io.mortise.lock.etcd.session.EtcdSession;
import io.mortise.lock.etcd.session.EtcdSessionManager;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests contenders and their session on a client whose requests the test answers. */
class EtcdContenderTest {
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final PendingEtcdClient store = new PendingEtcdClient();
    private final List<Supplier<CompletionStage<?>>> cleanups = new ArrayList<>();
    private final BackendContext context = PendingEtcdClient.context(clock, REQUEST_TIMEOUT, cleanups);
    private final EtcdRequestSender requests = store.sender(context, LEASE);
    private final EtcdSessionManager sessions =
            new EtcdSessionManager(requests, new EtcdKeyLayout("mortise/"), context, LEASE);
    private final LongHoldWatchScheduler deferredWatches = new LongHoldWatchScheduler(clock, LEASE);

    private record Request(boolean mayWait, Supplier<LockName> lock) implements LockRequest {
        @Override
        public LockName name() {
            return lock.get();
        }

        @Override
        public String attemptId() {
            return "a";
        }

        @Override
        public String ownerRecord() {
            return "owner";
        }

        @Override
        public Duration leaseDuration() {
            return LEASE;
        }
    }

    private static final ContenderListener IDLE = listener(() -> {});

    private static ContenderListener listener(Runnable onWake) {
        return new ContenderListener() {
            @Override
            public void wake() {
                onWake.run();
            }

            @Override
            public void lost(LossReason reason) {}
        };
    }

    private EtcdContender contender(boolean mayWait, ContenderListener listener) {
        return contender(new Request(mayWait, () -> new LockName("x")), listener);
    }

    private EtcdContender contender(Request request, ContenderListener listener) {
        EtcdContender.Unwrapper nothing = new EtcdContender.Unwrapper() {
            @Override
            public <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision) {
                return Optional.empty();
            }
        };
        return new EtcdContender(sessions, clock, deferredWatches, nothing, request, listener);
    }

    @BeforeEach
    void open() {
        sessions.current();
        store.grantLease(7);
        store.put(1, 0); // the session's key
    }

    /** Runs an action in the middle of the session's end, when it has not notified its contenders. */
    private void whileTheSessionEnds(Runnable action) {
        EtcdSession session = sessions.current();
        session.validity().orElseThrow().attach(new GrantValidity.Listener() {
            @Override
            public void lost(LossReason reason) {}

            @Override
            public void afterLoss(LossReason reason) {
                action.run();
            }
        });
        session.end("as planned");
    }

    @Test
    void S05_aLeaseThatIsLostWithItsSessionSendsNoDeletion() {
        EtcdContender contender = contender(true, IDLE);
        CompletionStage<AttemptResult> attempt = contender.attempt();
        store.put(2, 1);
        assertThat(attempt.toCompletableFuture().join()).isInstanceOf(AttemptResult.Granted.class);
        List<CompletionStage<Boolean>> ended = new ArrayList<>();
        whileTheSessionEnds(() -> ended.add(contender.end()));
        assertThat(store.pending()).containsExactly("revoke");
        assertThat(ended.get(0).toCompletableFuture()).isNotDone();
        store.revokeLease();
        assertThat(ended.get(0).toCompletableFuture()).isCompletedWithValue(false);
    }

    /** An attempt that does not wait would fail for good. */
    @Test
    void S15_anAttemptThatFailsBecauseItsSessionEndsGetsAnotherSession() {
        CompletableFuture<AttemptResult> attempt =
                contender(false, IDLE).attempt().toCompletableFuture();
        whileTheSessionEnds(() -> store.fail("commit"));
        assertThat(attempt.join()).isInstanceOf(AttemptResult.Displaced.class);
    }

    @Test
    void S08_aPutThatThrewAnErrorIsWithdrawn() {
        StackOverflowError error = new StackOverflowError("as planned");
        store.throwAfterNextRequest(error);
        EtcdContender contender = contender(true, IDLE);
        assertThat(contender.attempt().toCompletableFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCause(error);
        CompletableFuture<AttemptResult> next = contender(true, IDLE).attempt().toCompletableFuture();
        store.put(2, 1); // the put that threw: its reply has no handler
        store.put(3, 1);
        assertThat(next).as("it has the turn").isCompleted();
        assertThat(contender.end().toCompletableFuture()).isNotDone();
        assertThat(store.pending()).as("the withdrawal").containsExactly("commit");
    }

    @Test
    void S09_anAttemptThatCannotJoinTheQueueForAnErrorFails() {
        EtcdContender contender = contender(
                new Request(true, () -> {
                    throw new StackOverflowError("as planned");
                }),
                IDLE);
        assertThat(contender.attempt().toCompletableFuture()).isCompletedExceptionally();
    }

    @Test
    void S17_aListenerThatThrowsWhenASessionEndsSilencesNeitherOthersNorTheStore() {
        EtcdContender bad = contender(true, listener(() -> {
            throw new IllegalStateException("as planned");
        }));
        CompletionStage<AttemptResult> queued = bad.attempt();
        store.put(2, 2);
        assertThat(queued.toCompletableFuture().join()).isInstanceOf(AttemptResult.Waiting.class);
        CompletableFuture<AttemptResult> other = contender(true, IDLE).attempt().toCompletableFuture();
        sessions.current().end("as planned");
        assertThat(other.join()).isInstanceOf(AttemptResult.Displaced.class);
        assertThat(store.pending()).contains("revoke");
    }

    @Test
    void S17_anEndedSessionKeepsNoContender() {
        SessionLockQueue queue =
                sessions.current().joinQueue(new LockName("x"), () -> {}).queue();
        assertThat(queue.isIdle()).isFalse();
        sessions.current().end("as planned");
        assertThat(queue.isIdle()).isTrue();
    }

    /** As after a restore of a snapshot: acquires are executed in the known epoch only, so that none would be again. */
    @Test
    void S07_aSessionWhoseStateInTheStoreIsOlderThanBeforeEnds() {
        EtcdSession session = sessions.current();
        CompletableFuture<AttemptResult> attempt =
                contender(true, IDLE).attempt().toCompletableFuture();
        store.refusePut();
        store.readSession(3); // two withdrawals have started new epochs
        store.refusePut();
        store.readSession(3);
        assertThat(session.hasEnded()).isFalse();
        store.refusePut();
        store.readSession(2);
        assertThat(session.hasEnded()).isTrue();
        assertThat(attempt.join()).isInstanceOf(AttemptResult.Displaced.class);
    }

    /** The core has discarded the contender, since another client deleted its key. A first put is still in doubt. */
    @Test
    void S08_aCleanupWithoutReplyForAWholeLeaseEndsTheSession() {
        EtcdContender contender = contender(true, IDLE);
        CompletionStage<AttemptResult> failed = contender.attempt();
        store.fail("commit");
        assertThat(failed.toCompletableFuture()).isCompletedExceptionally();
        CompletionStage<AttemptResult> queued = contender.attempt();
        store.put(2, 2);
        assertThat(queued.toCompletableFuture().join()).isInstanceOf(AttemptResult.Waiting.class);
        contender.deleted();
        assertThat(contender.attempt().toCompletableFuture().join()).isInstanceOf(AttemptResult.Displaced.class);
        EtcdSession session = sessions.current();
        assertThat(cleanups).hasSize(1);
        CompletionStage<?> early = cleanups.get(0).get();
        clock.advance(LEASE.minusMillis(1));
        store.fail("commit");
        assertThat(early.toCompletableFuture()).isCompletedExceptionally();
        assertThat(session.hasEnded()).isFalse();
        CompletionStage<?> late = cleanups.get(0).get();
        clock.advance(Duration.ofMillis(1));
        store.fail("commit");
        assertThat(late.toCompletableFuture()).isCompletedExceptionally();
        assertThat(session.hasEnded()).isTrue();
        CompletionStage<?> last = cleanups.get(0).get();
        store.revokeLease();
        assertThat(last.toCompletableFuture()).isCompleted();
    }
}
