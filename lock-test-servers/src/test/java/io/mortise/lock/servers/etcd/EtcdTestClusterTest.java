// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.Await;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Tag("once")
@Tag("long")
class EtcdTestClusterTest {
    private static final Logger log = LoggerFactory.getLogger(EtcdTestClusterTest.class);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void start_servesOnAllNodes_andAKilledLeaderIsReplaced() {
        long start = System.nanoTime();
        try (EtcdTestCluster cluster = EtcdTestCluster.start()) {
            log.info("event=figures start_ms={}", (System.nanoTime() - start) / 1_000_000);
            List<EtcdTestServer> nodes = cluster.nodes();
            assertThat(cluster.url()).isEqualTo("etcd://" + cluster.addresses());
            nodes.get(0).connect().put("key", "1");
            assertThat(nodes)
                    .allSatisfy(node -> assertThat(node.connect().get("key")).isPresent());
            EtcdTestServer old = cluster.leader();
            assertThat(cluster.followers()).hasSize(2).doesNotContain(old);

            long killed = System.nanoTime();
            EtcdTestServer next = cluster.failOver();
            log.info("event=figures failover_ms={}", (System.nanoTime() - killed) / 1_000_000);
            assertThat(next).isNotSameAs(old).isSameAs(cluster.leader());
            next.connect().put("key", "2");
            old.restart();
            assertThat(old.connect().get("key").orElseThrow().value()).isEqualTo("2");
            cluster.moveLeader(old);
            assertThat(cluster.leader()).isSameAs(old);
        }
    }

    @Test
    void pausedLeader_isReplaced_andFollowsOnceResumed() {
        try (EtcdTestCluster cluster = EtcdTestCluster.start()) {
            EtcdTestServer old = cluster.leader();
            old.pause();
            EtcdTestServer next = cluster.awaitLeaderOtherThan(old);
            assertThat(cluster.leader()).isSameAs(next);
            next.connect().put("key", "1");
            old.resume();
            Await.until(
                    "the old leader follows",
                    LIMIT,
                    () -> old.connect().tryCall(etcd -> etcd.get("key")).isPresent()
                            && !old.connect().status().leads());
            assertThat(cluster.leader()).isSameAs(next);
        }
    }

    @Test
    void leaderWithoutFollowers_doesNotServe() {
        try (EtcdTestCluster cluster = EtcdTestCluster.start()) {
            EtcdTestServer leader = cluster.leader();
            List<EtcdTestServer> followers = cluster.followers();
            followers.forEach(EtcdTestServer::pause);
            assertThat(leader.connect().tryCall(RawEtcd::revision)).isEmpty();
            followers.get(0).resume();
            cluster.leader().connect().put("key", "1");
            followers.get(1).resume();
            cluster.awaitServing();
        }
    }

    @Test
    void restartAll_keepsDataAndUsers() {
        EtcdServerOptions options =
                EtcdServerOptions.defaults().withRootPassword("pw").withTls();
        try (EtcdTestCluster cluster = EtcdTestCluster.start(options)) {
            assertThat(cluster.url()).isEqualTo("etcd://root:pw@" + cluster.addresses());
            assertThat(cluster.tlsUrl())
                    .startsWith("etcds://root:pw@127.0.0.1:")
                    .doesNotContain(cluster.addresses());
            assertThat(cluster.nodes())
                    .extracting(EtcdTestServer::certificate)
                    .containsOnly(cluster.nodes().get(0).certificate());
            cluster.leader().connect().put("key", "1");
            cluster.killAll();
            assertThat(cluster.nodes()).noneMatch(EtcdTestServer::isAlive);
            RawEtcd etcd = cluster.nodes().get(2).connect();
            assertThatThrownBy(() -> etcd.get("key")).isInstanceOf(UncheckedIOException.class);
            cluster.restartAll();
            assertThat(etcd.get("key")).isPresent();
            assertThat(cluster.nodes())
                    .allSatisfy(node -> assertThatThrownBy(
                                    () -> RawEtcd.connect(node.port()).get("key"))
                            .hasMessage("etcdserver: user name is empty"));
        }
    }
}
