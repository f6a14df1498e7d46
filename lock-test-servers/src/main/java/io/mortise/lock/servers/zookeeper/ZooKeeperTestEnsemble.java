// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.FreePorts;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real ZooKeeper ensemble of three servers for tests, each in a child JVM on free ports of 127.0.0.1. Connections between the
 * servers go through proxies, so that a server can be cut off from the others while its clients still reach it. The child JVMs
 * end with this JVM, even if it is killed. Thread-safe.
 *
 * <p>The servers, also called nodes, are numbered 0 to 2. A server that receives nothing from its leader serves its clients,
 * including pings, for up to the sync limit; with shorter session timeouts, the others expire a session before its client
 * learns of it.
 */
public final class ZooKeeperTestEnsemble implements AutoCloseable {
    /** Default of ZooKeeper's unit of time; session timeouts are at least two ticks and at most 60 s. */
    public static final Duration TICK = Duration.ofMillis(500);

    /** Default time for which a follower serves without its leader, and a leader without its followers: 5 s. */
    public static final Duration DEFAULT_SYNC_LIMIT = TICK.multipliedBy(10);

    /** Number of servers. */
    public static final int SIZE = 3;

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperTestEnsemble.class);
    private static final Duration START_LIMIT = Duration.ofSeconds(40);
    private static final int START_ATTEMPTS = 3;
    // How long a server waits if it tries to follow a leader that has just ended.
    private static final Duration INIT_LIMIT = TICK.multipliedBy(8);
    private static final String SETTINGS = String.join(
            "\n",
            "maxSessionTimeout=60000",
            "maxClientCnxns=0",
            "clientPortAddress=127.0.0.1",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr",
            // Because of the proxies, each server has different addresses for the others, and must keep them.
            "reconfigEnabled=false",
            "");

    private final TempDir dir = TempDir.create("ensemble");
    private final QuorumLinks links;
    private final List<ZooKeeperEnsembleServer> nodes = new ArrayList<>();

    private ZooKeeperTestEnsemble(Duration tick, Duration syncLimit) {
        String settings = SETTINGS + "tickTime=" + tick.toMillis() + "\nsyncLimit=" + syncLimit.dividedBy(tick)
                + "\ninitLimit=" + INIT_LIMIT.dividedBy(tick) + "\n";
        List<Integer> ports = FreePorts.forServers(3 * SIZE);
        List<Integer> quorum = ports.subList(0, SIZE);
        List<Integer> election = ports.subList(SIZE, 2 * SIZE);
        this.links = new QuorumLinks(quorum, election);
        for (int i = 0; i < SIZE; i++) {
            int node = i;
            List<String> servers = IntStream.range(0, SIZE)
                    .mapToObj(other -> "server." + (other + 1) + "="
                            + (other == node
                                    ? "127.0.0.1:" + quorum.get(node) + ":" + election.get(node)
                                    : links.address(node, other)))
                    .toList();
            nodes.add(new ZooKeeperEnsembleServer(dir.path(), node, ports.get(2 * SIZE + node), settings, servers));
        }
    }

    /** Starts an ensemble with {@link #DEFAULT_SYNC_LIMIT}; returns when all servers serve. */
    public static ZooKeeperTestEnsemble start() {
        return start(DEFAULT_SYNC_LIMIT);
    }

    /**
     * Starts an ensemble; returns when all servers serve.
     *
     * @param syncLimit how long a follower serves without its leader, and a leader without its followers; a multiple of
     *     {@link #TICK}
     * @throws IllegalStateException if the ensemble did not start, on three different sets of ports
     */
    public static ZooKeeperTestEnsemble start(Duration syncLimit) {
        return start(TICK, syncLimit);
    }

    /**
     * Does the same as {@link #start(Duration)}, with another unit of time.
     *
     * @param tick ZooKeeper's unit of time, at most 4 s
     * @param syncLimit a multiple of {@code tick}, see {@link #start(Duration)}
     */
    public static ZooKeeperTestEnsemble start(Duration tick, Duration syncLimit) {
        for (int attempt = 1; ; attempt++) {
            ZooKeeperTestEnsemble ensemble = new ZooKeeperTestEnsemble(tick, syncLimit);
            try {
                ensemble.awaitServing(START_LIMIT);
                return ensemble;
            } catch (IllegalStateException e) {
                ensemble.close();
                log.warn("event=ensemble-start-failed attempt={} error={}", attempt, e.toString());
                if (attempt == START_ATTEMPTS || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
            }
        }
    }

    /** Returns the addresses of all three servers. */
    public String connectString() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.clientPort()).collect(Collectors.joining(","));
    }

    /** Returns the address of one server, for a client that must not fail over. */
    public String connectString(int node) {
        return "127.0.0.1:" + nodes.get(node).clientPort();
    }

    /**
     * Returns the server that reports to be the leader; waits for an election to end.
     *
     * @throws IllegalStateException if there is no leader within 40 s
     */
    public int leader() {
        Await.until("there is a leader", START_LIMIT, () -> findLeader() >= 0);
        int leader = findLeader();
        return leader >= 0 ? leader : leader();
    }

    /** Returns any server that is not the leader at the moment. */
    public int follower() {
        return (leader() + 1) % SIZE;
    }

    /** Returns the role that a server reports: {@code "leader"}, {@code "follower"}, or {@code "none"} if it does not serve. */
    public String mode(int node) {
        return nodes.get(node).mode();
    }

    /**
     * Waits until all three servers serve.
     *
     * @throws IllegalStateException if that takes longer than {@code limit}, or if a server has ended
     */
    public void awaitServing(Duration limit) {
        Await.until("three nodes serve", limit, () -> {
            nodes.stream()
                    .map(ZooKeeperEnsembleServer::child)
                    .filter(child -> !child.isAlive())
                    .forEach(child -> {
                        throw new IllegalStateException("A server of the ensemble has ended: " + child.lastLines());
                    });
            return nodes.stream().noneMatch(node -> node.mode().equals("none"));
        });
    }

    /**
     * Cuts a server off from the others by dropping all bytes, without closing connections. Its clients still reach it. A
     * leader serves them for up to the sync limit, and the others also wait that long before they elect a new leader, unless
     * they are restarted. Meanwhile two servers may report to be the leader.
     */
    public void isolate(int node) {
        log.info("event=node-isolated node={}", node);
        links.isolate(node);
    }

    /** Ends all isolations; bytes sent in the meantime are delivered. */
    public void heal() {
        log.info("event=ensemble-healed");
        links.heal();
    }

    /** Pauses a server (SIGSTOP); its connections stay open. */
    public void pause(int node) {
        nodes.get(node).child().pause();
    }

    /** Resumes a paused server. */
    public void resume(int node) {
        nodes.get(node).child().resume();
    }

    /** Kills a server (SIGKILL) and waits for its end; its data is kept. */
    public void kill(int node) {
        nodes.get(node).close();
    }

    /** Kills a server if it runs, and starts it again with its data, without waiting; see {@link #awaitServing}. */
    public void restart(int node) {
        nodes.get(node).restart();
    }

    /** Kills all servers and deletes their data. Idempotent. */
    @Override
    public void close() {
        try (dir;
                links) {
            nodes.forEach(ZooKeeperEnsembleServer::close);
        }
    }

    private int findLeader() {
        return IntStream.range(0, SIZE)
                .filter(node -> mode(node).equals("leader"))
                .findFirst()
                .orElse(-1);
    }
}
