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
 * A real Redis master with replicas and sentinels for tests, on free ports of 127.0.0.1. The processes end with this JVM, even
 * if it is killed. Thread-safe.
 */
public final class RedisSentinelTestDeployment implements AutoCloseable {
    /** Name of the master in requests to the sentinels. */
    public static final String MASTER_NAME = "mymaster";

    private static final Logger log = LoggerFactory.getLogger(RedisSentinelTestDeployment.class);
    private static final Duration LIMIT = Duration.ofSeconds(40);
    // Long enough that a slow master on a busy machine is not considered dead.
    private static final Duration DOWN_AFTER = Duration.ofSeconds(1);
    private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(2);

    private final TempDir dir = TempDir.create("sentinel");
    private final List<RedisTestServer> nodes = new ArrayList<>();
    private final List<RedisSentinelNode> sentinels = new ArrayList<>();

    private RedisSentinelTestDeployment(RedisServerOptions options, int replicas, int sentinels) {
        try {
            startNodes(options, replicas);
            startSentinels(options, sentinels);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts a master, one replica and three sentinels, two of which must agree that the master is down. */
    public static RedisSentinelTestDeployment start() {
        return start(RedisServerOptions.defaults(), 1, 3);
    }

    /**
     * Starts a master, replicas and sentinels; returns when they all know each other.
     *
     * @param options options of the master and its replicas
     * @param replicas number of replicas, at least 1
     * @param sentinels number of sentinels, at least 1; a majority of them must agree that the master is down
     */
    public static RedisSentinelTestDeployment start(RedisServerOptions options, int replicas, int sentinels) {
        if (replicas < 1 || sentinels < 1) {
            throw new IllegalArgumentException(
                    "A failover needs at least one replica and one sentinel, not " + replicas + " and " + sentinels);
        }
        return new RedisSentinelTestDeployment(options, replicas, sentinels);
    }

    private void startNodes(RedisServerOptions options, int replicas) {
        RedisServerOptions announced = options.withArguments("--replica-announce-ip", "127.0.0.1");
        RedisTestServer master = RedisTestServer.start(announced);
        nodes.add(master);
        for (int i = 0; i < replicas; i++) {
            nodes.add(RedisTestServer.start(announced.withReplicaOf(master.port())));
        }
        nodes.stream().skip(1).forEach(RedisSentinelTestDeployment::awaitInSync);
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
        awaitReadyForFailover();
        log.info("event=sentinel-started master={} sentinels={}", nodes.get(0).port(), addresses());
    }

    /**
     * Waits until each running sentinel knows the other sentinels and all replicas, and could start a failover.
     *
     * @throws IllegalStateException if that takes more than 40 s
     */
    public void awaitReadyForFailover() {
        Await.until(
                "the sentinels know each other and all replicas",
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

    /** Returns the addresses of the sentinels, {@code 127.0.0.1:port,127.0.0.1:port,…}; they never change. */
    public String addresses() {
        return sentinels.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** Returns the initial master and its replicas; all of them may be paused, killed and restarted. */
    public List<RedisTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * Returns the master that the sentinels name, whether it is alive or not.
     *
     * @throws IllegalStateException if they do not agree on one within 40 s
     */
    public RedisTestServer master() {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until("the sentinels agree on a master", LIMIT, () -> found.addAll(agreedMaster()));
        return found.get(0);
    }

    /**
     * Kills the master and waits until the sentinels have promoted a replica, which takes about two seconds. The old master
     * becomes a replica of the new one within seconds after its restart. Call {@link #awaitReadyForFailover()} before the next failover.
     *
     * @return the new master
     */
    public RedisTestServer failOver() {
        RedisTestServer old = master();
        old.kill();
        return awaitMasterOtherThan(old);
    }

    /**
     * Waits until all sentinels that reply name another master, and that node reports the role of a master, and returns it.
     *
     * @throws IllegalStateException if there is no other master within 40 s
     */
    public RedisTestServer awaitMasterOtherThan(RedisTestServer old) {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until("another master than that on port " + old.port(), LIMIT, () -> {
            List<RedisTestServer> agreedMaster = agreedMaster();
            return agreedMaster.stream().allMatch(node -> node != old && reportsMasterRole(node))
                    && found.addAll(agreedMaster);
        });
        return found.get(0);
    }

    /** Returns the master that all sentinels that reply name; empty if they name different ones. */
    private List<RedisTestServer> agreedMaster() {
        Set<Integer> ports = sentinels.stream()
                .flatMapToInt(sentinel -> sentinel.masterPort().stream())
                .boxed()
                .collect(Collectors.toSet());
        return nodes.stream().filter(node -> ports.equals(Set.of(node.port()))).toList();
    }

    private static boolean reportsMasterRole(RedisTestServer node) {
        return node.tryCall("ROLE")
                .filter(role -> "master".equals(((List<?>) role).get(0)))
                .isPresent();
    }

    /** Kills a sentinel, numbered from 0 as in {@link #addresses()}. */
    public void killSentinel(int number) {
        sentinels.get(number).kill();
    }

    /** Starts a killed sentinel again, with the configuration that it last wrote. */
    public void restartSentinel(int number) {
        sentinels.get(number).restart();
    }

    /** Kills all processes and deletes their data. Idempotent. */
    @Override
    public void close() {
        try (dir) {
            sentinels.forEach(RedisSentinelNode::close);
            nodes.forEach(RedisTestServer::close);
        }
    }
}
