// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import static io.mortise.lock.servers.zookeeper.Clients.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
@Tag("long")
class ZooKeeperTestEnsembleTest {
    private static ZooKeeperTestEnsemble ensemble;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperTestEnsemble.start(Duration.ofSeconds(8));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    void isolatedFollower_keepsItsClientConnected_whileTheMajorityExpiresItsSession() throws Exception {
        int follower = ensemble.follower();
        int leader = ensemble.leader();
        try (ZooKeeper cutOff = Clients.connect(ensemble.connectString(follower), Duration.ofSeconds(3));
                ZooKeeper majority = Clients.connect(ensemble.connectString(leader))) {
            Clients.create(cutOff, "/mine", CreateMode.EPHEMERAL);
            ensemble.isolate(follower);

            Await.until("the majority has expired the session", LIMIT, () -> !Clients.exists(majority, "/mine"));
            assertThat(cutOff.getState()).isEqualTo(ZooKeeper.States.CONNECTED);
            assertThat(Clients.exists(cutOff, "/mine")).isTrue();
            assertThat(ensemble.leader()).isEqualTo(leader);
            Clients.create(majority, "/theirs", CreateMode.PERSISTENT);

            Await.until(
                    "the follower gives up",
                    LIMIT,
                    () -> ensemble.mode(follower).equals("none"));
            ensemble.heal();
            Await.until("the client knows", LIMIT, () -> cutOff.getState() == ZooKeeper.States.CLOSED);
            ensemble.awaitServing(LIMIT);
            assertThat(ensemble.leader()).isEqualTo(leader);
        }
    }

    @Test
    void isolatedLeader_stepsDown_andTheOthersElectALeader() {
        int leader = ensemble.leader();
        ensemble.isolate(leader);
        try {
            Await.until("another leads", LIMIT, () -> ensemble.leader() != leader);
            assertThat(ensemble.mode(leader)).isNotEqualTo("follower");
        } finally {
            ensemble.heal();
        }
        Await.until("the old leader follows", LIMIT, () -> ensemble.mode(leader).equals("follower"));
        ensemble.awaitServing(LIMIT);
    }

    @Test
    void killedServer_servesAfterRestart_andPausedServerAfterResume() {
        int follower = ensemble.follower();
        ensemble.kill(follower);
        assertThat(ensemble.mode(follower)).isEqualTo("none");
        ensemble.restart(follower);
        ensemble.awaitServing(LIMIT);

        ensemble.pause(follower);
        assertThat(ensemble.mode(follower)).isEqualTo("none");
        ensemble.resume(follower);
        ensemble.awaitServing(LIMIT);
    }
}
