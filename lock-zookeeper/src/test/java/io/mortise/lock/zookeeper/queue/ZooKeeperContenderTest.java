// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.session.LongHoldWatchScheduler;
import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.session.StubZooKeeper;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionManager;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what a contender does about calls and notices that overlap. */
@SuppressWarnings("NullAway") // each test sets the fields
class ZooKeeperContenderTest {
    private static final String AHEAD = "x-lock-0000000000";
    private static final String ATTEMPT = "0".repeat(32);
    private static final String OWN = ContenderNode.prefix(ATTEMPT) + "0000000001";

    private final ManualClock clock = new ManualClock();
    private QueueStub handle;
    private ZooKeeperSessionManager sessions;
    private ZooKeeperContender contender;
    private int wakes;

    /** A handle whose lists show the given nodes. */
    private static final class QueueStub extends StubZooKeeper {
        private Code creation = Code.OK;
        private List<String> queue = List.of(OWN);
        private Runnable afterList = () -> {};
        private boolean holdsResponses;
        private final Queue<Runnable> held = new ArrayDeque<>();
        private final AtomicInteger deletes = new AtomicInteger(); // the first one fails
        private int transactions;

        QueueStub() throws IOException {}

        private void respond(Runnable response) {
            if (holdsResponses) {
                held.add(response);
            } else {
                response.run();
            }
        }

        @Override
        public void create(
                String path,
                byte[] data,
                List<ACL> acl,
                CreateMode mode,
                AsyncCallback.Create2Callback callback,
                Object context) {
            int code = creation.intValue();
            respond(() -> callback.processResult(code, path, context, "/locks/a/" + OWN, new Stat()));
        }

        /** The first create finds no base path; the second one throws an error. */
        @Override
        public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
            if (operations.iterator().next() instanceof Op.Check) { // before a list
                callback.processResult(Code.OK.intValue(), null, context, List.of());
                return;
            }
            if (transactions++ > 0) {
                throw new StackOverflowError("as planned");
            }
            creation = Code.OK;
            callback.processResult(Code.NONODE.intValue(), null, context, null);
        }

        @Override
        public void delete(String path, int version, AsyncCallback.VoidCallback callback, Object context) {
            int code = deletes.getAndIncrement() == 0 ? Code.CONNECTIONLOSS.intValue() : Code.OK.intValue();
            respond(() -> callback.processResult(code, path, context));
        }

        @Override
        public void getChildren(String path, Watcher watcher, AsyncCallback.ChildrenCallback callback, Object context) {
            List<String> shown = queue;
            respond(() -> callback.processResult(Code.OK.intValue(), path, context, shown));
            Runnable next = afterList;
            afterList = () -> {};
            next.run();
        }
    }

    private record Request() implements LockRequest {
        @Override
        public LockName name() {
            return new LockName("a");
        }

        @Override
        public String attemptId() {
            return ATTEMPT;
        }

        @Override
        public String ownerRecord() {
            return ATTEMPT + " m1";
        }

        @Override
        public Duration leaseDuration() {
            return Duration.ofSeconds(20);
        }

        @Override
        public boolean mayWait() {
            return false;
        }
    }

    private static final class NothingToUnwrap implements ZooKeeperContender.Unwrapper {
        @Override
        public <T> Optional<T> unwrap(Class<T> type, ZooKeeper handle, String node) {
            return Optional.empty();
        }
    }

    @BeforeEach
    void open() throws Exception {
        handle = new QueueStub();
        sessions = handle.sessions(clock);
        contender = new ZooKeeperContender(
                sessions,
                new LockContainerNodeLifecycle("/locks", ZooDefs.Ids.OPEN_ACL_UNSAFE, clock),
                new LongHoldWatchScheduler(clock, ZooKeeperContender.WATCH_OWN_NODE_AFTER),
                new NothingToUnwrap(),
                new Request(),
                new ContenderListener() {
                    @Override
                    public void wake() {
                        wakes++;
                    }

                    @Override
                    public void lost(LossReason reason) {}
                });
    }

    @AfterEach
    void close() throws Exception {
        handle.close();
    }

    private CompletableFuture<AttemptResult> attempt() {
        return contender.attempt().toCompletableFuture();
    }

    /** Otherwise the core would learn of the grant at its fallback time, seconds later. */
    @Test
    void S11_aGrantForACallThatHasHadTheAnswerOfTheOneBeforeWakesTheCore() {
        handle.queue = List.of(AHEAD, OWN);
        List<CompletableFuture<AttemptResult>> second = new ArrayList<>();
        handle.afterList = () -> { // the first call has timed out
            second.add(attempt());
            handle.queue = List.of(OWN);
        };
        assertThat(attempt()).isNotDone();
        assertThat(second.get(0)).isCompletedWithValueMatching(AttemptResult.Waiting.class::isInstance);
        assertThat(wakes).isEqualTo(1);
        assertThat(attempt()).isCompletedWithValueMatching(AttemptResult.Granted.class::isInstance);
    }

    /** The clock stands still, as that of a closed client does. */
    @Test
    void S08_S16_aRemovalOnAnApplicationsHandleIsRepeatedAfterTheClientWasClosed() {
        assertThat(attempt()).isCompletedWithValueMatching(AttemptResult.Granted.class::isInstance);
        contender.sessionEnded(sessions.current(), false);
        Await.until("the removal is repeated", Duration.ofSeconds(30), () -> handle.deletes.get() == 2);
    }

    @Test
    void S06_theEndOfASessionThatTheContenderHasLeftIsIgnored() {
        handle.creation = Code.NOAUTH;
        assertThat(attempt())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(BackendRefusedException.class);
        ZooKeeperSession left = sessions.current();
        left.end("as after a deadline");
        handle.creation = Code.OK;
        handle.holdsResponses = true;
        CompletableFuture<AttemptResult> onTheNext = attempt();
        contender.sessionEnded(left, true);
        handle.held.forEach(Runnable::run);
        assertThat(onTheNext).isCompletedWithValueMatching(AttemptResult.Granted.class::isInstance);
    }

    /** Otherwise its end would wait for the response until the session is given up. */
    @Test
    void S08_aCreateThatThrowsAfterTheBasePathWasCreatedFails() {
        handle.creation = Code.NONODE;
        handle.queue = List.of();
        assertThat(attempt()).isCompletedExceptionally();
        assertThat(contender.end().toCompletableFuture()).isCompletedWithValue(false);
    }
}
