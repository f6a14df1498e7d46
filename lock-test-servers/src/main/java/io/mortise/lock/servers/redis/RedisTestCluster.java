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
 * A real Redis Cluster of three masters with a replica each, on free ports of 127.0.0.1. They end with this JVM, however
 * that ends. Thread-safe.
 */
public final class RedisTestCluster implements AutoCloseable {
    /** How many slots the keys are spread over. */
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

    /** Starts a cluster with {@link RedisServerOptions#defaults()}; it serves when this returns. */
    public static RedisTestCluster start() {
        return start(RedisServerOptions.defaults());
    }

    /** Starts a cluster, each of its nodes with these options; it serves when this returns. */
    public static RedisTestCluster start(RedisServerOptions options) {
        return new RedisTestCluster(options);
    }

    private static RedisServerOptions clustered(RedisServerOptions options) {
        List<String> arguments = new ArrayList<>(List.of("--cluster-enabled", "yes"));
        arguments.addAll(List.of("--cluster-announce-ip", "127.0.0.1"));
        // Long enough that a busy machine is not taken for a dead node.
        arguments.addAll(List.of("--cluster-node-timeout", "2000"));
        // However old its data are: tests are to see what that loses, not to wait for nothing.
        arguments.addAll(List.of("--cluster-replica-validity-factor", "0"));
        // Last, so that they win.
        arguments.addAll(options.arguments());
        return new RedisServerOptions(
                options.keepsData(),
                options.password(),
                options.unixSocket(),
                options.tls(),
                options.ownClock(),
                arguments);
    }

    /** All nodes, {@code 127.0.0.1:port,127.0.0.1:port,…}; the same for good. */
    public String addresses() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** All nodes, the first masters first, then their replicas in the same order. All may be paused, killed and restarted. */
    public List<RedisTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /** The slot of a key, which is that of its part in braces if it has one. */
    public int slotOf(String key) {
        return nodes.stream()
                .flatMap(node -> node.ask("CLUSTER", "KEYSLOT", key).stream())
                .mapToInt(slot -> Math.toIntExact((Long) slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No node answers"));
    }

    /**
     * The master that serves the slot, as all nodes that answer see it.
     *
     * @throws IllegalStateException if they do not agree on one within 40 s
     */
    public RedisTestServer masterOf(int slot) {
        return await("a master of slot " + slot, slot, nodes);
    }

    /**
     * Kills the master of a slot and waits until its replica has taken its place; takes a few seconds. The old one, when it is
     * restarted, becomes a replica of the new one.
     *
     * @return the new master
     */
    public RedisTestServer failOver(int slot) {
        RedisTestServer old = masterOf(slot);
        old.kill();
        return awaitMasterOtherThan(old, slot);
    }

    /**
     * Waits until all other nodes that answer see another master of the slot, and serve.
     *
     * @throws IllegalStateException if there is none within 40 s
     */
    public RedisTestServer awaitMasterOtherThan(RedisTestServer old, int slot) {
        List<RedisTestServer> others =
                nodes.stream().filter(node -> node != old).toList();
        return await("another master of slot " + slot + " than port " + old.port(), slot, others);
    }

    /** Begins to move a slot; with {@link RedisSlotMigration#moveKeys()} and {@link RedisSlotMigration#finish()} it goes on. */
    public RedisSlotMigration startMigration(int slot, RedisTestServer to) {
        return RedisSlotMigration.start(this, slot, to);
    }

    /** Moves a slot with its keys to another master; all nodes know when this returns. */
    public void migrate(int slot, RedisTestServer to) {
        RedisSlotMigration migration = startMigration(slot, to);
        migration.moveKeys();
        migration.finish();
    }

    /** One among {@code serving}, which all of those that answer see and say that the cluster is well. */
    RedisTestServer await(String what, int slot, List<RedisTestServer> serving) {
        List<RedisTestServer> found = new ArrayList<>();
        Await.until(what, LIMIT, () -> {
            Set<Optional<Integer>> masters = new HashSet<>();
            for (RedisTestServer node : serving) {
                view(node).ifPresent(view -> masters.add(isOk(node) ? view.masterOf(slot) : Optional.empty()));
            }
            return serving.stream()
                    .anyMatch(node -> masters.equals(Set.of(Optional.of(node.port()))) && found.add(node));
        });
        return found.get(0);
    }

    static Optional<RedisClusterView> view(RedisTestServer node) {
        return node.ask("CLUSTER", "NODES").map(text -> RedisClusterView.parse((String) text));
    }

    static boolean isOk(RedisTestServer node) {
        return node.ask("CLUSTER", "INFO")
                .filter(text -> ((String) text).contains("cluster_state:ok"))
                .isPresent();
    }

    /** Kills all nodes and deletes their data; idempotent. */
    @Override
    public void close() {
        nodes.forEach(RedisTestServer::close);
    }
}
