// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

/** Tests how the handles that Mortise opens are closed, with a manual clock and without a server. */
class ManagedHandleTest {
    private static final ZooKeeperSettings SETTINGS = new ZooKeeperSettings(
            Optional.of("127.0.0.1:1"),
            Optional.empty(),
            "/locks",
            StubZooKeeper.TIMEOUT,
            ZooDefs.Ids.OPEN_ACL_UNSAFE,
            List.of(),
            Optional.empty());

    private final ManualClock clock = new ManualClock();
    private final List<Throwable> failures = new ArrayList<>();

    private void startThread(Runnable close) {
        if (!failures.isEmpty()) {
            Throwable failure = failures.remove(0);
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }
        close.run();
    }

    private ZooKeeperSession endedSession() {
        ZooKeeperSession session = ZooKeeperSession.start(SETTINGS, StubZooKeeper.context(clock, this::startThread));
        session.end("the test ends it");
        return session;
    }

    private static void assertClosed(ZooKeeperSession session) {
        assertThat(session.closed()).isCompleted();
        assertThat(session.zooKeeper().handle().getState().isAlive()).isFalse();
    }

    /** Else the server would keep the nodes of the session for as long as the process runs. */
    @Test
    void S08_aHandleForWhoseCloseThereWasNoThreadIsClosedLater() {
        failures.add(new StackOverflowError("as planned"));
        ZooKeeperSession session = endedSession();
        assertThat(session.closed()).isNotDone();
        clock.advance(Duration.ofMillis(500));
        assertClosed(session);
    }

    @Test
    void S08_aHandleThatOutlivesTheThreadsOfItsClientIsClosed() {
        failures.add(new RejectedExecutionException("as planned"));
        assertClosed(endedSession());
    }
}
