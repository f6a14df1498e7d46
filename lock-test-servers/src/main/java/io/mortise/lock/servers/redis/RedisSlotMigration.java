// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.List;

/**
 * Migrates one cluster slot from one master to another, step by step. Until the migration is finished, the old master serves
 * the keys that it still has and replies {@code ASK} for all others, including new ones. Not thread-safe.
 */
public final class RedisSlotMigration {
    private static final String BATCH = "100";
    private static final String TIMEOUT_MILLIS = "5000";

    private final RedisTestCluster cluster;
    private final String slot;
    private final RedisTestServer from;
    private final RedisTestServer to;

    private RedisSlotMigration(RedisTestCluster cluster, int slot, RedisTestServer from, RedisTestServer to) {
        this.cluster = cluster;
        this.slot = Integer.toString(slot);
        this.from = from;
        this.to = to;
    }

    static RedisSlotMigration start(RedisTestCluster cluster, int slot, RedisTestServer to) {
        RedisTestServer from = cluster.masterOf(slot);
        if (from == to) {
            throw new IllegalArgumentException("Slot " + slot + " is already on port " + to.port());
        }
        RedisSlotMigration migration = new RedisSlotMigration(cluster, slot, from, to);
        migration.setSlot(to, "IMPORTING", idOf(from));
        migration.setSlot(from, "MIGRATING", idOf(to));
        return migration;
    }

    /** Moves all keys of the slot to the new master. */
    public void moveKeys() {
        try (RawRedis source = from.connect()) {
            for (List<String> keys = keys(source); !keys.isEmpty(); keys = keys(source)) {
                List<String> command =
                        new ArrayList<>(List.of("MIGRATE", "127.0.0.1", Integer.toString(to.port()), ""));
                command.addAll(List.of("0", TIMEOUT_MILLIS));
                to.auth().forEach(password -> command.addAll(List.of("AUTH", password)));
                command.add("KEYS");
                command.addAll(keys);
                source.call(command.toArray(String[]::new));
            }
        }
    }

    /**
     * Makes the new master the owner of the slot; when this returns, all nodes that reply know the new owner.
     *
     * @throws IllegalStateException if the old master still has keys of the slot
     */
    public void finish() {
        try (RawRedis source = from.connect()) {
            if (!keys(source).isEmpty()) {
                throw new IllegalStateException("Keys of slot " + slot + " have not been moved");
            }
        }
        String owner = idOf(to);
        setSlot(to, "NODE", owner); // first, or a crash between the two calls would leave the slot without an owner
        setSlot(from, "NODE", owner);
        // Waits until all nodes agree; since these two nodes agree, they cannot agree on another owner.
        cluster.masterOf(Integer.parseInt(slot));
    }

    private List<String> keys(RawRedis source) {
        return source.call("CLUSTER", "GETKEYSINSLOT", slot, BATCH) instanceof List<?> keys
                ? keys.stream().map(String::valueOf).toList()
                : List.of();
    }

    private void setSlot(RedisTestServer node, String state, String id) {
        try (RawRedis redis = node.connect()) {
            redis.call("CLUSTER", "SETSLOT", slot, state, id);
        }
    }

    private static String idOf(RedisTestServer node) {
        try (RawRedis redis = node.connect()) {
            return String.valueOf(redis.call("CLUSTER", "MYID"));
        }
    }
}
