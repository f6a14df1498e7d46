// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import org.apache.zookeeper.AsyncCallback;
import org.junit.jupiter.api.Test;

/** When a session's deadline counts from, by the clock and without a server. */
class SessionHeartbeatTest {
    private final ManualClock clock = new ManualClock();

    /** Sending takes time, as if the process were paused meanwhile. */
    private final class SlowToSend extends StubZooKeeper {
        private final Duration sending;

        SlowToSend(Duration sending) throws IOException {
            this.sending = sending;
        }

        @Override
        public void sync(String path, AsyncCallback.VoidCallback answer, Object asked) {
            clock.leap(sending);
            super.sync(path, answer, asked);
        }
    }

    /** If it counted from after the send, a pause between the two would make a holder believe for longer, by as much. */
    @Test
    void S02_aProofCountsFromBeforeItWasSent() throws Exception {
        Duration sending = Duration.ofSeconds(1);
        try (StubZooKeeper handle = new SlowToSend(sending)) {
            ZooKeeperSession session = handle.session(clock);
            ZooKeeperSessionValidity validity = session.validity().orElseThrow();
            assertThat(validity.validUntil())
                    .isEqualTo(LockClock.deadline(new MonotonicTime(0), StubZooKeeper.TIMEOUT.dividedBy(2)));
            Duration threeQuarters = StubZooKeeper.TIMEOUT.multipliedBy(3).dividedBy(4);
            MonotonicTime sent = clock.now();
            for (int i = 0; i < 10; i++) {
                clock.leap(Duration.ofSeconds(2));
                sent = clock.now();
                session.renew(validity);
                assertThat(clock.since(sent)).isEqualTo(sending);
                assertThat(validity.validUntil().isAfter(LockClock.deadline(sent, threeQuarters)))
                        .isFalse();
            }
            assertThat(validity.validUntil()).isEqualTo(LockClock.deadline(sent, threeQuarters));
        }
    }
}
