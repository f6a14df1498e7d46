// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Proxies between the nodes of an ensemble: all bytes between two nodes pass through them. Thread-safe. */
final class QuorumLinks implements AutoCloseable {
    private record Link(int from, int to, TcpProxy quorum, TcpProxy election) {
        boolean touches(int node) {
            return from == node || to == node;
        }
    }

    /** A follower that calls a new leader too early would call again if it were refused; after a reset all elect anew. */
    private static final Duration LEADER_LISTENS = Duration.ofSeconds(1);

    private final List<Link> links = new ArrayList<>();

    /** The lists hold the real ports, by node. */
    QuorumLinks(List<Integer> quorumPorts, List<Integer> electionPorts) {
        for (int from = 0; from < quorumPorts.size(); from++) {
            for (int to = 0; to < quorumPorts.size(); to++) {
                if (from != to) {
                    links.add(new Link(
                            from,
                            to,
                            TcpProxy.to("127.0.0.1", quorumPorts.get(to)).withConnectRetry(LEADER_LISTENS),
                            TcpProxy.to("127.0.0.1", electionPorts.get(to))));
                }
            }
        }
    }

    /** The ports where {@code from} finds {@code to}, as ZooKeeper's configuration writes them. */
    String address(int from, int to) {
        Link link = links.stream()
                .filter(candidate -> candidate.from == from && candidate.to == to)
                .findFirst()
                .orElseThrow();
        return "127.0.0.1:" + link.quorum.port() + ":" + link.election.port();
    }

    void isolate(int node) {
        links.stream().filter(link -> link.touches(node)).forEach(link -> {
            link.quorum.blackHole();
            link.election.blackHole();
        });
    }

    void heal() {
        links.forEach(link -> {
            link.quorum.heal();
            link.election.heal();
        });
    }

    @Override
    public void close() {
        links.forEach(link -> {
            link.quorum.close();
            link.election.close();
        });
    }
}
