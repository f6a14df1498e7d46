// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.zookeeper.session.StubZooKeeper;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** Tests which failures stop the cleanup of lock nodes, with a manual clock and without a server. */
class EmptyLockNodeCleanupTest {
    private final ManualClock clock = new ManualClock();

    /** A failure such as a lost connection must not stop later deletions. */
    @Test
    void S17_onlyAForbiddenDeletionStopsLaterDeletions() throws Exception {
        try (StubZooKeeper handle = new StubZooKeeper()) {
            ZooKeeperSession session = handle.session(clock);
            EmptyLockNodeCleanup cleanup = new EmptyLockNodeCleanup(clock);
            for (Code answer :
                    new Code[] {Code.CONNECTIONLOSS, Code.NOTEMPTY, Code.SESSIONMOVED, Code.NOAUTH, Code.OK}) {
                handle.deletion = answer;
                cleanup.scheduleDeletion(session, "/" + answer);
                clock.advance(EmptyLockNodeCleanup.PERIOD.multipliedBy(2));
            }
            assertThat(handle.deleted).containsExactly("/CONNECTIONLOSS", "/NOTEMPTY", "/SESSIONMOVED", "/NOAUTH");
        }
    }
}
