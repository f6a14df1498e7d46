// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Forms a Redis cluster of newly started nodes. */
final class RedisClusterFormation {
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private RedisClusterFormation() {}

    /** Forms the cluster; when this returns, all nodes serve and know each other's role. */
    static void form(List<RedisTestServer> nodes) {
        List<RawRedis> connections = new ArrayList<>();
        try {
            nodes.forEach(node -> connections.add(node.connect()));
            form(nodes, connections);
        } finally {
            connections.forEach(RawRedis::close);
        }
    }

    private static void form(List<RedisTestServer> nodes, List<RawRedis> connections) {
        int masters = RedisTestCluster.MASTERS;
        for (int i = 0; i < nodes.size(); i++) {
            connections.get(i).call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        }
        for (int i = 0; i < masters; i++) {
            addSlots(
                    connections.get(i),
                    i * RedisTestCluster.SLOTS / masters,
                    (i + 1) * RedisTestCluster.SLOTS / masters);
        }
        // Introduces each node to each other node, since learning by gossip would take seconds.
        for (int i = 0; i < nodes.size(); i++) {
            for (RedisTestServer other : nodes.subList(i + 1, nodes.size())) {
                connections.get(i).call("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other.port()));
            }
        }
        Await.until(
                "all nodes know each other",
                LIMIT,
                () -> connections.stream()
                        .map(RedisClusterFormation::view)
                        .allMatch(view -> view.nodes().size() == nodes.size()
                                && view.nodes().stream().allMatch(RedisClusterView.Node::isHealthy)));
        for (int i = masters; i < nodes.size(); i++) {
            String master = String.valueOf(connections.get(i - masters).call("CLUSTER", "MYID"));
            connections.get(i).call("CLUSTER", "REPLICATE", master);
        }
        Await.until(
                "the cluster serves", LIMIT, () -> connections.stream().allMatch(RedisClusterFormation::isComplete));
    }

    private static void addSlots(RawRedis node, int from, int below) {
        List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
        for (int slot = from; slot < below; slot++) {
            command.add(Integer.toString(slot));
        }
        node.call(command.toArray(String[]::new));
    }

    private static boolean isComplete(RawRedis node) {
        String link = Optional.ofNullable(node.info("replication").get("master_link_status"))
                .orElse("up");
        return view(node).masters().count() == RedisTestCluster.MASTERS
                && link.equals("up")
                && String.valueOf(node.call("CLUSTER", "INFO")).contains("cluster_state:ok");
    }

    private static RedisClusterView view(RawRedis node) {
        return RedisClusterView.parse(String.valueOf(node.call("CLUSTER", "NODES")));
    }
}
