// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.Test;

/** Tests the first sync of a session, and from which time its deadline counts, with a manual clock and without a server. */
class SessionHeartbeatTest {
    private final ManualClock clock = new ManualClock();

    /** A stub whose requests take time to send, as if the process were paused meanwhile. */
    private final class SlowSendingZooKeeper extends StubZooKeeper {
        private final Duration sending;

        SlowSendingZooKeeper(Duration sending) throws IOException {
            this.sending = sending;
        }

        @Override
        public void sync(String path, AsyncCallback.VoidCallback callback, Object context) {
            clock.advanceWithoutTimers(sending);
            super.sync(path, callback, context);
        }
    }

    /**
     * If the deadline counted from after the send, a pause during the send would let a holder consider the lease valid for
     * longer.
     */
    @Test
    void S02_theDeadlineCountsFromBeforeTheCheckWasSent() throws Exception {
        Duration sending = Duration.ofSeconds(1);
        try (StubZooKeeper handle = new SlowSendingZooKeeper(sending)) {
            ZooKeeperSession session = handle.session(clock);
            ZooKeeperSessionValidity validity = session.validity().orElseThrow();
            assertThat(validity.validUntil())
                    .isEqualTo(LockClock.deadline(new MonotonicInstant(0), StubZooKeeper.TIMEOUT.dividedBy(2)));
            Duration threeQuarters = StubZooKeeper.TIMEOUT.multipliedBy(3).dividedBy(4);
            MonotonicInstant sent = clock.now();
            for (int i = 0; i < 10; i++) {
                clock.advanceWithoutTimers(Duration.ofSeconds(2));
                sent = clock.now();
                session.renew(validity);
                assertThat(clock.since(sent)).isEqualTo(sending);
                assertThat(validity.validUntil().isAfter(LockClock.deadline(sent, threeQuarters)))
                        .isFalse();
            }
            assertThat(validity.validUntil()).isEqualTo(LockClock.deadline(sent, threeQuarters));
        }
    }

    @Test
    void S15_aFirstSyncThatThrowsIsRepeated() throws Exception {
        List<Error> errors = new ArrayList<>(List.of(new StackOverflowError("as planned")));
        try (StubZooKeeper handle = new StubZooKeeper() {
            @Override
            public void sync(String path, AsyncCallback.VoidCallback callback, Object context) {
                if (!errors.isEmpty()) {
                    throw errors.remove(0);
                }
                super.sync(path, callback, context);
            }
        }) {
            ZooKeeperSession session = handle.session(clock);
            assertThat(session.validity()).isEmpty();
            clock.advance(Duration.ofMillis(500));
            assertThat(session.validity()).isPresent();
        }
    }

    /** A handle whose first syncs fail. */
    private static final class RefusingZooKeeper extends StubZooKeeper {
        private final Code refusal;
        private int syncs;

        RefusingZooKeeper(Code refusal) throws IOException {
            this.refusal = refusal;
        }

        @Override
        public void sync(String path, AsyncCallback.VoidCallback callback, Object context) {
            syncs++;
            callback.processResult(refusal.intValue(), path, context);
        }
    }

    @Test
    void S15_aFirstSyncThatIsRefusedFailsThoseWhoWaitForTheSession() throws Exception {
        try (RefusingZooKeeper handle = new RefusingZooKeeper(Code.SESSIONCLOSEDREQUIRESASLAUTH)) {
            ZooKeeperSession session = handle.session(clock);
            assertThat(session.ready())
                    .isCompletedExceptionally()
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(BackendRefusedException.class)
                    .withMessageContaining("SESSIONCLOSEDREQUIRESASLAUTH");
            assertThat(session.hasEnded()).isTrue();
        }
    }

    @Test
    void aFirstSyncThatFailsOnEachConnectionIsRepeatedOnTheLastOneOnly() throws Exception {
        try (RefusingZooKeeper handle = new RefusingZooKeeper(Code.CONNECTIONLOSS)) {
            ZooKeeperSession session = handle.session(clock);
            for (int i = 0; i < 5; i++) {
                session.process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
                session.process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
            }
            int before = handle.syncs;
            clock.advance(Duration.ofMillis(500));
            assertThat(handle.syncs).isEqualTo(before + 1);
        }
    }
}
