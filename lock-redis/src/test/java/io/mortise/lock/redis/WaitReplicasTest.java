// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that with {@code waitReplicas} a grant counts only once a replica has it. */
@Tag("once")
class WaitReplicasTest {
    private RedisTestServer master;
    private RedisTestServer replica;
    private LockClient client;

    @BeforeEach
    void start() {
        master = RedisTestServer.start();
        replica = RedisTestServer.start(RedisServerOptions.defaults().withReplicaOf(master.port()));
        try (RawRedis redis = replica.connect()) {
            Await.until(
                    "the replica is in sync",
                    RedisTests.SOON,
                    () -> "up".equals(redis.info("replication").get("master_link_status")));
        }
        client = Locks.connect(master.url() + "?waitReplicas=1&lease=3s", RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void stop() {
        client.close();
        replica.close();
        master.close();
    }

    @Test
    void S01_aHeldGrantIsOnTheReplica() throws Exception {
        try (RawRedis replicaRedis = replica.connect()) {
            for (int i = 0; i < 20; i++) {
                try (Lease lease = client.named("x" + i).acquire()) {
                    assertThat(String.valueOf(replicaRedis.call("GET", "lock:x" + i)))
                            .contains(" token=" + lease.fencingToken());
                }
            }
        }
    }

    @Test
    void S12_aHandedOffGrantIsConfirmedByARequest() throws Exception {
        List<Long> tokens = new ArrayList<>();
        Lease first = client.named("x").acquire();
        List<CompletableFuture<Lease>> crowd = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            crowd.add(client.named("x").acquireAsync());
        }
        first.release();
        try (RawRedis replicaRedis = replica.connect()) {
            for (CompletableFuture<Lease> next : crowd) {
                try (Lease lease = next.get(20, TimeUnit.SECONDS)) {
                    tokens.add(lease.fencingToken());
                    assertThat(String.valueOf(replicaRedis.call("GET", "lock:x")))
                            .contains(" token=" + lease.fencingToken());
                }
            }
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void S15_withoutAReplicaNothingIsGrantedAndNoOrphanRemains() throws Exception {
        replica.pause();
        assertThatThrownBy(() -> client.named("x").tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("0 of the 1 replicas");
        try (RawRedis masterRedis = master.connect()) {
            Await.until(
                    "its grant is released",
                    RedisTests.SOON,
                    () -> Long.valueOf(0).equals(masterRedis.call("EXISTS", "lock:x")));
        }
        CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
        replica.resume();
        try (Lease lease = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void S06_aRenewalThatNoReplicaHasExtendsNothing() throws Exception {
        Lease held = client.named("x").acquire();
        replica.pause();
        LossReason reason = held.lost().get(20, TimeUnit.SECONDS);
        assertThat(reason.kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(held.remaining()).isEqualTo(Duration.ZERO);
    }
}
