// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Redis Cluster for tests, with three masters and one replica of each, on free ports of 127.0.0.1. The nodes end with
 * this JVM, even if it is killed. Thread-safe.
 */
public final class RedisTestCluster implements AutoCloseable {
    /** Number of slots over which the keys are distributed. */
    public static final int SLOTS = 16_384;

    static final int MASTERS = 3;

    private static final Logger log = LoggerFactory.getLogger(RedisTestCluster.class);
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private final List<RedisTestServer> nodes = new ArrayList<>();

    private RedisTestCluster(RedisServerOptions options) {
        try {
            RedisServerOptions clustered = clustered(options);
            for (int i = 0; i < 2 * MASTERS; i++) {
                nodes.add(RedisTestServer.start(clustered));
            }
            RedisClusterFormation.form(nodes);
            log.info("event=cluster-started nodes={}", addresses());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts a cluster with {@link RedisServerOptions#defaults()}; returns when it serves. */
    public static RedisTestCluster start() {
        return start(RedisServerOptions.defaults());
    }

    /** Starts a cluster whose nodes all have these options; returns when it serves. */
    public static RedisTestCluster start(RedisServerOptions options) {
        return new RedisTestCluster(options);
    }

    private static RedisServerOptions clustered(RedisServerOptions options) {
        List<String> arguments = new ArrayList<>(List.of("--cluster-enabled", "yes"));
        arguments.addAll(List.of("--cluster-announce-ip", "127.0.0.1"));
        // Long enough that a slow node on a busy machine is not considered dead.
        arguments.addAll(List.of("--cluster-node-timeout", "2000"));
        // A replica may take over however old its data is: tests examine what that loses.
        arguments.addAll(List.of("--cluster-replica-validity-factor", "0"));
        // At the end, so that they take precedence.
        arguments.addAll(options.arguments());
        return new RedisServerOptions(
                options.keepsData(),
                options.password(),
                options.unixSocket(),
                options.tls(),
                options.ownClock(),
                arguments);
    }

    /** Returns the addresses of all nodes, {@code 127.0.0.1:port,127.0.0.1:port,…}; they never change. */
    public String addresses() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /**
     * Returns all nodes: the initial masters, then their replicas in the same order. All may be paused, killed and restarted.
     */
    public List<RedisTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /** Returns the slot of a key; if the key has a hash tag in braces, the slot depends only on that. */
    public int slotOf(String key) {
        return nodes.stream()
                .flatMap(node -> node.tryCall("CLUSTER", "KEYSLOT", key).stream())
                .mapToInt(slot -> Math.toIntExact((Long) slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No node of the cluster replies: " + addresses()));
    }

    /**
     * Returns the master that serves the slot, as soon as all nodes that reply agree on it.
     *
     * @throws IllegalStateException if they do not agree on one within 40 s
     */
    public RedisTestServer masterOf(int slot) {
        return await("a master of slot " + slot, slot, nodes);
    }

    /**
     * Kills the master of a slot and waits until its replica has become master, which takes a few seconds. The old master
     * becomes a replica of the new one when it is restarted.
     *
     * @return the new master
     */
    public RedisTestServer failOver(int slot) {
        RedisTestServer old = masterOf(slot);
        old.kill();
        return awaitMasterOtherThan(old, slot);
    }

    /**
     * Waits until all other nodes that reply serve and agree on another master of the slot, and returns that master.
     *
     * @throws IllegalStateException if there is no other master within 40 s
     */
    public RedisTestServer awaitMasterOtherThan(RedisTestServer old, int slot) {
        List<RedisTestServer> others =
                nodes.stream().filter(node -> node != old).toList();
        return await("another master of slot " + slot + " than port " + old.port(), slot, others);
    }

    /** Begins to migrate a slot; {@link RedisSlotMigration#moveKeys()} and {@link RedisSlotMigration#finish()} complete it. */
    public RedisSlotMigration startMigration(int slot, RedisTestServer to) {
        return RedisSlotMigration.start(this, slot, to);
    }

    /** Migrates a slot with its keys to another master; when this returns, all nodes know the new owner. */
    public void migrate(int slot, RedisTestServer to) {
        RedisSlotMigration migration = startMigration(slot, to);
        migration.moveKeys();
        migration.finish();
    }

    /**
     * Waits until all {@code voters} that reply report a healthy cluster and the same master of the slot, which is one of them.
     */
    RedisTestServer await(String what, int slot, List<RedisTestServer> voters) {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until(what, LIMIT, () -> {
            Set<Optional<Integer>> masters = new HashSet<>();
            for (RedisTestServer node : voters) {
                view(node).ifPresent(view -> masters.add(isOk(node) ? view.masterOf(slot) : Optional.empty()));
            }
            return voters.stream()
                    .anyMatch(node -> masters.equals(Set.of(Optional.of(node.port()))) && found.add(node));
        });
        return found.get(0);
    }

    static Optional<RedisClusterView> view(RedisTestServer node) {
        return node.tryCall("CLUSTER", "NODES").map(text -> RedisClusterView.parse((String) text));
    }

    static boolean isOk(RedisTestServer node) {
        return node.tryCall("CLUSTER", "INFO")
                .filter(text -> ((String) text).contains("cluster_state:ok"))
                .isPresent();
    }

    /** Kills all nodes and deletes their data. Idempotent. */
    @Override
    public void close() {
        nodes.forEach(RedisTestServer::close);
    }
}
