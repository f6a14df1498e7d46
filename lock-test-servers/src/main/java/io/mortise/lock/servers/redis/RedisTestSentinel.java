// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Redis master with replicas and with sentinels that watch it. All on free ports of 127.0.0.1; they end with this
 * JVM, however that ends. Thread-safe.
 */
public final class RedisTestSentinel implements AutoCloseable {
    /** The name of the master, which clients ask sentinels for. */
    public static final String MASTER_NAME = "mymaster";

    private static final Logger log = LoggerFactory.getLogger(RedisTestSentinel.class);
    private static final Duration LIMIT = Duration.ofSeconds(40);
    // Long enough that a busy machine is not taken for a dead master.
    private static final Duration DOWN_AFTER = Duration.ofSeconds(1);
    private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(2);

    private final TempDir dir = TempDir.create("sentinel");
    private final List<RedisTestServer> nodes = new ArrayList<>();
    private final List<RedisSentinelNode> sentinels = new ArrayList<>();

    private RedisTestSentinel(RedisServerOptions options, int replicas, int sentinels) {
        try {
            startNodes(options, replicas);
            startSentinels(options, sentinels);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** A master, one replica and three sentinels, two of which must agree that the master is down. */
    public static RedisTestSentinel start() {
        return start(RedisServerOptions.defaults(), 1, 3);
    }

    /**
     * Starts a master, replicas and sentinels; they know of each other when this returns.
     *
     * @param options of the master and its replicas
     * @param replicas one or more
     * @param sentinels one or more; a majority of them must agree that the master is down
     */
    public static RedisTestSentinel start(RedisServerOptions options, int replicas, int sentinels) {
        if (replicas < 1 || sentinels < 1) {
            throw new IllegalArgumentException("Without replicas or sentinels nothing can fail over");
        }
        return new RedisTestSentinel(options, replicas, sentinels);
    }

    private void startNodes(RedisServerOptions options, int replicas) {
        RedisServerOptions announced = options.withArguments("--replica-announce-ip", "127.0.0.1");
        RedisTestServer master = RedisTestServer.start(announced);
        nodes.add(master);
        for (int i = 0; i < replicas; i++) {
            nodes.add(RedisTestServer.start(announced.withReplicaOf(master.port())));
        }
        nodes.stream().skip(1).forEach(RedisTestSentinel::awaitInSync);
    }

    private static void awaitInSync(RedisTestServer replica) {
        try (RawRedis redis = replica.connect()) {
            Await.until(
                    "the replica is in sync",
                    LIMIT,
                    () -> "up".equals(redis.info("replication").get("master_link_status")));
        }
    }

    private void startSentinels(RedisServerOptions options, int count) {
        List<String> settings = new ArrayList<>();
        settings.add(
                "sentinel monitor " + MASTER_NAME + " 127.0.0.1 " + nodes.get(0).port() + " " + (count / 2 + 1));
        settings.add("sentinel down-after-milliseconds " + MASTER_NAME + " " + DOWN_AFTER.toMillis());
        settings.add("sentinel failover-timeout " + MASTER_NAME + " " + FAILOVER_TIMEOUT.toMillis());
        options.password().ifPresent(secret -> settings.add("sentinel auth-pass " + MASTER_NAME + " " + secret));
        for (int i = 0; i < count; i++) {
            sentinels.add(RedisSentinelNode.start(dir.path(), MASTER_NAME, settings));
        }
        awaitWatched();
        log.info("event=sentinel-started master={} sentinels={}", nodes.get(0).port(), addresses());
    }

    /**
     * Returns once each sentinel that runs knows the others and all replicas, and could fail over.
     *
     * @throws IllegalStateException if they do not within 40 s
     */
    public void awaitWatched() {
        Await.until(
                "the sentinels know all",
                LIMIT,
                () -> sentinels.stream()
                        .filter(RedisSentinelNode::isAlive)
                        .allMatch(sentinel -> knowsAll(sentinel.master()) && sentinel.hasQuorum()));
    }

    private boolean knowsAll(Map<String, String> master) {
        return "master".equals(master.get("flags"))
                && Integer.toString(nodes.size() - 1).equals(master.get("num-slaves"))
                && Integer.toString(sentinels.size() - 1).equals(master.get("num-other-sentinels"));
    }

    /** The sentinels, {@code 127.0.0.1:port,127.0.0.1:port,…}; the same for good. */
    public String addresses() {
        return sentinels.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** The first master and its replicas; all of them may be paused, killed and restarted. */
    public List<RedisTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * The master as the sentinels name it, whether it still lives or not.
     *
     * @throws IllegalStateException if they do not agree on one within 40 s
     */
    public RedisTestServer master() {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until("the sentinels agree on a master", LIMIT, () -> found.addAll(named()));
        return found.get(0);
    }

    /**
     * Kills the master and waits until the sentinels have made a replica the master; takes about two seconds. The old one, when
     * it is restarted, becomes a replica of the new one within seconds. Before the next failover, {@link #awaitWatched()}.
     *
     * @return the new master
     */
    public RedisTestServer failOver() {
        RedisTestServer old = master();
        old.kill();
        return awaitMasterOtherThan(old);
    }

    /**
     * Waits until all sentinels that answer name another master, and that one says so too.
     *
     * @throws IllegalStateException if there is none within 40 s
     */
    public RedisTestServer awaitMasterOtherThan(RedisTestServer old) {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until("another master than that on port " + old.port(), LIMIT, () -> {
            List<RedisTestServer> named = named();
            return named.stream().allMatch(node -> node != old && saysMaster(node)) && found.addAll(named);
        });
        return found.get(0);
    }

    /** None unless all that answer name the same. */
    private List<RedisTestServer> named() {
        Set<Integer> ports = sentinels.stream()
                .flatMapToInt(sentinel -> sentinel.masterPort().stream())
                .boxed()
                .collect(Collectors.toSet());
        return nodes.stream().filter(node -> ports.equals(Set.of(node.port()))).toList();
    }

    private static boolean saysMaster(RedisTestServer node) {
        return node.ask("ROLE")
                .filter(role -> "master".equals(((List<?>) role).get(0)))
                .isPresent();
    }

    /** Kills a sentinel, numbered from 0 as in {@link #addresses()}. */
    public void killSentinel(int number) {
        sentinels.get(number).kill();
    }

    /** Starts a sentinel again, with what it knew. */
    public void restartSentinel(int number) {
        sentinels.get(number).restart();
    }

    /** Kills all and deletes all data; idempotent. */
    @Override
    public void close() {
        try (dir) {
            sentinels.forEach(RedisSentinelNode::close);
            nodes.forEach(RedisTestServer::close);
        }
    }
}
