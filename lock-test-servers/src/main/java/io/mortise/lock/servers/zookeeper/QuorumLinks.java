// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Proxies all connections between the servers of a ZooKeeper ensemble, so that they can be cut. Thread-safe. */
final class QuorumLinks implements AutoCloseable {
    private record Link(int from, int to, TcpProxy quorum, TcpProxy election) {
        boolean touches(int node) {
            return from == node || to == node;
        }
    }

    /**
     * The time that a proxy retries to reach a leader. A follower may connect before the new leader listens: a refused connection
     * would make it retry, but a reset from the proxy would start another election.
     */
    private static final Duration CONNECT_RETRY = Duration.ofSeconds(1);

    private final List<Link> links = new ArrayList<>();

    /**
     * Creates the proxies.
     *
     * @param quorumPorts real ports for followers, by server
     * @param electionPorts real ports for elections, by server
     */
    QuorumLinks(List<Integer> quorumPorts, List<Integer> electionPorts) {
        for (int from = 0; from < quorumPorts.size(); from++) {
            for (int to = 0; to < quorumPorts.size(); to++) {
                if (from != to) {
                    links.add(new Link(
                            from,
                            to,
                            TcpProxy.to("127.0.0.1", quorumPorts.get(to)).withConnectRetry(CONNECT_RETRY),
                            TcpProxy.to("127.0.0.1", electionPorts.get(to))));
                }
            }
        }
    }

    /**
     * Returns the address at which server {@code from} reaches server {@code to}, in the format of ZooKeeper's configuration.
     */
    String address(int from, int to) {
        Link link = links.stream()
                .filter(candidate -> candidate.from == from && candidate.to == to)
                .findFirst()
                .orElseThrow();
        return "127.0.0.1:" + link.quorum.port() + ":" + link.election.port();
    }

    /** Drops all bytes between this server and the others, without closing connections. */
    void isolate(int node) {
        links.stream().filter(link -> link.touches(node)).forEach(link -> {
            link.quorum.blackHole();
            link.election.blackHole();
        });
    }

    /** Ends all isolations. */
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
