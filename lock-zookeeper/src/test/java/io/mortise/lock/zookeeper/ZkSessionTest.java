// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.ManualClock;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** What a session makes of its answers, by the clock; there is no server. */
class ZkSessionTest {
    private final ManualClock clock = new ManualClock();
    private final BackendContext context = context(clock);

    /** Enough for a session that nobody waits for. */
    static BackendContext context(LockClock clock) {
        return (BackendContext) Proxy.newProxyInstance(
                ZkSessionTest.class.getClassLoader(),
                new Class<?>[] {BackendContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "clock" -> clock;
                    case "clientId" -> "0123456789abcdef";
                    case "keep" -> null;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    /** Sending takes its time, as where this process stands still meanwhile. */
    private final class SlowToSend extends AnsweringHandle {
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

    /** Counted from after it, a pause between the two would make a holder believe for longer, by as much. */
    @Test
    void S02_aProofCountsFromBeforeItWasSent() throws Exception {
        Duration sending = Duration.ofSeconds(1);
        try (AnsweringHandle handle = new SlowToSend(sending)) {
            ZkSession session = ZkSession.start(ZooKeeperOptions.using(() -> handle), "test", context);
            ZkLiveness liveness = session.liveness().orElseThrow();
            assertThat(liveness.validUntil()).isEqualTo(LockClock.deadline(0, AnsweringHandle.TIMEOUT.dividedBy(2)));
            Duration threeQuarters = AnsweringHandle.TIMEOUT.multipliedBy(3).dividedBy(4);
            long sent = 0;
            for (int i = 0; i < 10; i++) {
                clock.leap(Duration.ofSeconds(2));
                sent = clock.nanoTime();
                session.renew(liveness);
                assertThat(clock.nanoTime()).isEqualTo(sent + sending.toNanos());
                assertThat(liveness.validUntil()).isLessThanOrEqualTo(LockClock.deadline(sent, threeQuarters));
            }
            assertThat(liveness.validUntil()).isEqualTo(LockClock.deadline(sent, threeQuarters));
        }
    }

    /** Such as a connection that was lost: it is no reason to leave all nodes behind from now on. */
    @Test
    void S17_aDeletionOfALockNodeThatFailsEndsNoOtherUnlessItIsForbidden() throws Exception {
        try (AnsweringHandle handle = new AnsweringHandle()) {
            ZkSession session = ZkSession.start(ZooKeeperOptions.using(() -> handle), "test", context);
            EmptyLockNodes empty = new EmptyLockNodes(clock);
            for (Code answer :
                    new Code[] {Code.CONNECTIONLOSS, Code.NOTEMPTY, Code.SESSIONMOVED, Code.NOAUTH, Code.OK}) {
                handle.deletion = answer;
                empty.left(session, "/" + answer);
                clock.advance(EmptyLockNodes.PERIOD.multipliedBy(2));
            }
            assertThat(handle.deleted).containsExactly("/CONNECTIONLOSS", "/NOTEMPTY", "/SESSIONMOVED", "/NOAUTH");
        }
    }
}
