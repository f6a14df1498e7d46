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
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.Test;

/** Tests how the handles that Mortise opens are configured and closed, with a manual clock and without a server. */
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

    @Test
    void aHandleHasALimitOfTimeAndALargeBufferUnlessTheClientConfigHasThem() {
        ZKClientConfig own = new ZKClientConfig();
        own.setProperty(ZKClientConfig.SECURE_CLIENT, "false");
        assertConfigured(own, 5_000, 64 << 20);
        assertThat(own.getProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT)).isNull();
        own.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, "7000");
        own.setProperty(ZKConfig.JUTE_MAXBUFFER, "1000000");
        assertConfigured(own, 7_000, 1_000_000);
    }

    private void assertConfigured(ZKClientConfig own, long requestTimeout, int buffer) {
        ZooKeeperSession session =
                ZooKeeperSession.start(SETTINGS.withClientConfig(own), StubZooKeeper.context(clock, this::startThread));
        ZKClientConfig used = session.zooKeeper().handle().getClientConfig();
        assertThat(used.getLong(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, 0)).isEqualTo(requestTimeout);
        assertThat(used.getInt(ZKConfig.JUTE_MAXBUFFER, 0)).isEqualTo(buffer);
        assertThat(used.getProperty(ZKClientConfig.SECURE_CLIENT, "none")).isEqualTo("false");
        session.end("the test ends it");
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
