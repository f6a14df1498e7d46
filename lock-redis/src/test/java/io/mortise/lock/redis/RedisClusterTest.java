// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.RedisCodec;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what is special about a cluster, such as the slots of keys and channels, and the number of requests. */
@Tag("once")
class RedisClusterTest {
    private static final RedisKeyLayout KEYS = RedisKeyLayout.clustered(RedisOptions.DEFAULT_PREFIX);

    private static RedisTestCluster cluster;

    private LockClient client;

    @BeforeAll
    static void start() {
        cluster = RedisTestCluster.start(RedisServerOptions.defaults()
                .withUser("old", "on", ">secret", "~*", "&*", "+@all", "-info")
                .withUser("narrow", "on", ">secret", "~*", "&lock:%mortise-client:*", "+@all"));
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void connect() {
        client = Locks.connect("redis-cluster://" + cluster.addresses(), RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void disconnect() {
        client.close();
    }

    @Test
    void S13_allKeysOfALockAreInTheSlotOfItsBucket() throws InterruptedException {
        for (String name : List.of("x", "a/b", "{curly}", "Zoë")) {
            RedisKeyLayout.OfLock keys = KEYS.of(new LockName(name));
            assertThat(keys.all()).allMatch(key -> cluster.slotOf(key) == keys.slot());
            assertThat(cluster.slotOf(KEYS.shardChannel(keys, "c"))).isEqualTo(keys.slot());
            try (Lease lease = client.named(name).acquire();
                    RawRedis master = cluster.masterOf(keys.slot()).connect()) {
                assertThat(String.valueOf(master.call("GET", keys.grant()))).contains(" token=" + lease.fencingToken());
                assertThat(KEYS.lockName(keys.grant())).contains(name);
            }
        }
    }

    @Test
    void bucketsAreThoseOfTheServersOwnHash() {
        String name = "inventory-42";
        int bucket = cluster.slotOf(name) % RedisKeyLayout.BUCKETS;
        assertThat(KEYS.of(new LockName(name)).grant()).isEqualTo(String.format("lock:{b%02d}%s", bucket, name));
    }

    @Test
    void S01_excludesClientsThatFollowTheSetNxPattern() throws InterruptedException {
        String key = KEYS.of(new LockName("raw")).grant();
        try (RawRedis master = cluster.masterOf(cluster.slotOf(key)).connect()) {
            assertThat(master.call("SET", key, "somebody", "NX", "PX", "60000")).isEqualTo("OK");
            assertThat(client.named("raw").tryAcquire()).isEmpty();
            master.call("DEL", key);
            try (Lease lease = client.named("raw").acquire()) {
                assertThat(lease.isHeld()).isTrue();
                assertThat(master.call("SET", key, "somebody", "NX", "PX", "60000"))
                        .isNull();
            }
        }
    }

    @Test
    void S11_handOffsArePublishedOnlyInTheirSlot() throws Exception {
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName("x"));
        RedisTestServer master = cluster.masterOf(keys.slot());
        try (LockClient other = Locks.connect("redis-cluster://" + cluster.addresses());
                RawRedis redis = master.connect()) {
            DistributedLock lock = other.named("x");
            Lease held = client.named("x").acquire();
            int crowd = 50;
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < crowd; i++) {
                waiting.add(lock.acquireAsync());
            }
            Await.until(
                    "all are queued",
                    RedisTests.SOON,
                    () -> Long.valueOf(crowd).equals(redis.call("ZCARD", keys.queue())));
            assertThat((List<?>) Objects.requireNonNull(redis.call("PUBSUB", "SHARDCHANNELS")))
                    .as("one for each client")
                    .hasSize(2)
                    .allMatch(channel -> cluster.slotOf(String.valueOf(channel)) == keys.slot());
            redis.resetCommandCalls();
            held.release();
            for (CompletableFuture<Lease> next : waiting) {
                next.get(20, TimeUnit.SECONDS).release();
            }
            Map<String, Long> calls = redis.commandCalls();
            assertThat(redis.scriptCallsExceptRenewals()).isBetween(crowd + 1L, crowd * 12L / 10);
            assertThat(calls.get("spublish")).isLessThanOrEqualTo(crowd + 5L);
            assertThat(calls).doesNotContainKey("publish");
        }
    }

    /** As on Redis 6, which has no sharded channels; here the user may not read the server's version. */
    @Test
    void S11_withoutShardedChannelsHandOffsUseTheClientsOwnChannel() throws Exception {
        assertHandOffsUseOwnChannel("old");
    }

    /** The server refuses the subscription, after which the client has already sent its request. */
    @Test
    void S11_handOffsUseTheClientsOwnChannelIfShardedOnesAreForbidden() throws Exception {
        assertHandOffsUseOwnChannel("narrow");
    }

    private static void assertHandOffsUseOwnChannel(String user) throws Exception {
        String url = "redis-cluster://" + user + ":secret@" + cluster.addresses();
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName("x"));
        try (LockClient first = Locks.connect(url);
                LockClient second = Locks.connect(url);
                RawRedis redis = cluster.masterOf(keys.slot()).connect()) {
            for (int i = 0; i < 20; i++) { // so that both are connected to all masters and have tried to subscribe
                first.named("n" + i).acquire().release();
                second.named("n" + i).acquire().release();
            }
            Lease held = first.named("x").acquire();
            List<CompletableFuture<?>> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                waiting.add(
                        (i % 2 == 0 ? first : second).named("x").acquireAsync().thenCompose(Lease::releaseAsync));
            }
            Await.until(
                    "all are queued",
                    RedisTests.SOON,
                    () -> Long.valueOf(20).equals(redis.call("ZCARD", keys.queue())));
            redis.resetCommandCalls();
            held.release();
            CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
            assertThat(redis.scriptCallsExceptRenewals()).isBetween(21L, 26L);
            assertThat(redis.commandCalls()).containsKey("publish").doesNotContainKey("spublish");
        }
    }

    @Test
    void S01_aGrantMayWaitForReplicas() throws InterruptedException {
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName("x"));
        int master = cluster.nodes().indexOf(cluster.masterOf(keys.slot()));
        try (LockClient careful = Locks.connect("redis-cluster://" + cluster.addresses() + "?waitReplicas=1");
                Lease lease = careful.named("x").acquire();
                RawRedis replica = cluster.nodes().get(master + 3).connect()) {
            replica.call("READONLY");
            assertThat(String.valueOf(replica.call("GET", keys.grant()))).contains(" token=" + lease.fencingToken());
        }
    }

    @Test
    void uncontendedTakesTwoRequests() throws InterruptedException {
        client.named("y").acquire().release();
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName("y"));
        try (RawRedis redis = cluster.masterOf(keys.slot()).connect()) {
            redis.resetCommandCalls();
            client.named("y").acquire().release();
            Map<String, Long> calls = redis.commandCalls();
            assertThat(calls.get("evalsha")).isEqualTo(2L);
            assertThat(calls).doesNotContainKeys("eval", "publish", "spublish", "ssubscribe");
        }
    }

    @Test
    void S18_listShowsTheLocksOfAllMasters() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            held.add(client.named("listed" + i).acquire());
        }
        Set<RedisTestServer> masters = new HashSet<>();
        held.forEach(lease -> masters.add(
                cluster.masterOf(KEYS.of(new LockName(lease.lockName())).slot())));
        assertThat(masters).as("spread").hasSize(3);
        LockAdmin admin = client.admin().orElseThrow();
        List<String> names = new ArrayList<>();
        String cursor = "";
        do {
            LockAdmin.Page page = admin.list("listed", 7, cursor).get(20, TimeUnit.SECONDS);
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(7);
            page.locks().stream().map(LockStatus::name).forEach(names::add);
            cursor = page.next().orElse("");
        } while (!cursor.isEmpty());
        assertThat(names)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).mapToObj(i -> "listed" + i).toList());
        assertThat(admin.diagnose().get(20, TimeUnit.SECONDS))
                .anyMatch(finding -> finding.what().contains("append-only"));
        held.forEach(Lease::close);
    }

    @Test
    void S15_aSilentNodeIsReachedOnceItResponds() throws Exception {
        RedisKeyLayout.OfLock keys = KEYS.of(new LockName("x"));
        RedisTestServer master = cluster.masterOf(keys.slot());
        try (LockClient newClient = Locks.connect(
                "redis-cluster://" + cluster.addresses(),
                ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)))) {
            master.pause();
            CompletableFuture<Lease> waiting = newClient.named("x").acquireAsync();
            long start = System.nanoTime();
            Await.until(
                    "the first try has failed, and the replica has not taken over",
                    RedisTests.SOON,
                    () -> System.nanoTime() - start > 1_200_000_000L);
            master.resume();
            waiting.get(20, TimeUnit.SECONDS).release();
        } finally {
            master.resume();
        }
    }

    @Test
    void S15_S19_aWrongPasswordIsReportedAtOnceAndNotPrinted() {
        assertThatThrownBy(() -> Locks.connect("redis-cluster://old:wr0ng@" + cluster.addresses()))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("WRONGPASS")
                .hasMessageNotContaining("wr0ng");
    }

    @Test
    void anApplicationSuppliedClientIsNotClosed() throws InterruptedException {
        RedisClusterClient application = RedisClusterClient.create(
                RedisURI.create("127.0.0.1", cluster.nodes().get(0).port()));
        try {
            try (LockClient locks = RedisLocks.connect(RedisOptions.using(application), ClientOptions.defaults());
                    Lease lease = locks.named("z").acquire()) {
                assertThat(client.named("z").tryAcquire()).isEmpty();
                assertThat(lease.isHeld()).isTrue();
            }
            assertThat(client.named("z").tryAcquire()).isPresent();
            assertThat(application.connect().sync().ping()).isEqualTo("PONG");
        } finally {
            application.shutdown();
        }
    }

    /** As when a connection is reset while it is being opened. */
    @Test
    void S15_aConnectionThatFailsAtOnceIsTriedAgain() throws InterruptedException {
        FailsAtFirst application = new FailsAtFirst(
                RedisURI.create("127.0.0.1", cluster.nodes().get(0).port()));
        try (LockClient locks = RedisLocks.connect(RedisOptions.using(application), ClientOptions.defaults())) {
            for (int i = 0; i < 20; i++) {
                locks.named("n" + i).tryAcquire(RedisTests.SOON).orElseThrow().release();
            }
            assertThat(application.failed).as("nodes").hasSize(3);
        } finally {
            application.shutdown();
        }
    }

    /** A cluster client whose first connection to each node fails before a caller can wait for it. */
    private static final class FailsAtFirst extends RedisClusterClient {
        private final Set<Object> failed = ConcurrentHashMap.newKeySet();

        FailsAtFirst(RedisURI uri) {
            super(null, List.of(uri));
        }

        @Override
        @SuppressWarnings("unchecked")
        public <K, V> StatefulRedisClusterPubSubConnection<K, V> connectPubSub(RedisCodec<K, V> codec) {
            StatefulRedisClusterPubSubConnection<K, V> hub = super.connectPubSub(codec);
            return (StatefulRedisClusterPubSubConnection<K, V>) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {StatefulRedisClusterPubSubConnection.class},
                    (proxy, method, args) -> method.getName().equals("getConnectionAsync") && failed.add(args[0])
                            ? CompletableFuture.failedFuture(new RedisConnectionException("reset"))
                            : method.invoke(hub, args));
        }
    }
}
