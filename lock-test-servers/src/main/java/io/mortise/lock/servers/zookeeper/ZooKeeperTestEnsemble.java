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
 * A ZooKeeper ensemble of three real nodes, each in a child JVM on free ports of 127.0.0.1. What the nodes say to each
 * other goes through proxies, so a node can be cut off from the others while its clients still reach it. The children end
 * with this JVM, however that ends. Thread-safe.
 *
 * <p>Nodes are numbered 0 to 2. A node that hears nothing from its leader serves its clients, pings included, for up to
 * the sync limit; choose shorter session timeouts to see the others move on before its clients know.
 */
public final class ZooKeeperTestEnsemble implements AutoCloseable {
    /** ZooKeeper's unit of time, unless another is given; sessions are at least two ticks, at most 60 s long. */
    public static final Duration TICK = Duration.ofMillis(500);

    /** The usual time that a follower serves on without its leader, and a leader without its followers: 5 s. */
    public static final Duration DEFAULT_SYNC_LIMIT = TICK.multipliedBy(10);

    /** How many nodes there are. */
    public static final int SIZE = 3;

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperTestEnsemble.class);
    private static final Duration START_LIMIT = Duration.ofSeconds(40);
    private static final int START_ATTEMPTS = 3;
    // A node that tries to follow a leader which has just gone waits so long in vain.
    private static final Duration INIT_LIMIT = TICK.multipliedBy(8);
    private static final String SETTINGS = String.join(
            "\n",
            "maxSessionTimeout=60000",
            "maxClientCnxns=0",
            "clientPortAddress=127.0.0.1",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr",
            // The nodes' views of each other differ by their proxies, and must stay so.
            "reconfigEnabled=false",
            "");

    private final TempDir dir = TempDir.create("ensemble");
    private final QuorumLinks links;
    private final List<ZooKeeperEnsembleServer> nodes = new ArrayList<>();

    private ZooKeeperTestEnsemble(Duration tick, Duration syncLimit) {
        String settings = SETTINGS + "tickTime=" + tick.toMillis() + "\nsyncLimit=" + syncLimit.dividedBy(tick)
                + "\ninitLimit=" + INIT_LIMIT.dividedBy(tick) + "\n";
        List<Integer> ports = FreePorts.find(3 * SIZE);
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

    /** As {@link #start(Duration)}, with {@link #DEFAULT_SYNC_LIMIT}. */
    public static ZooKeeperTestEnsemble start() {
        return start(DEFAULT_SYNC_LIMIT);
    }

    /**
     * Starts an ensemble; all nodes serve when this returns.
     *
     * @param syncLimit how long a follower serves on without its leader, and a leader without its followers; whole
     *     {@link #TICK}s
     * @throws IllegalStateException if it did not come up on three different sets of ports
     */
    public static ZooKeeperTestEnsemble start(Duration syncLimit) {
        return start(TICK, syncLimit);
    }

    /**
     * As {@link #start(Duration)}, with another unit of time.
     *
     * @param tick at most 4 s
     * @param syncLimit whole ticks
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

    /** All three nodes. */
    public String connectString() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.clientPort()).collect(Collectors.joining(","));
    }

    /** One node, for a client that must not fail over. */
    public String connectString(int node) {
        return "127.0.0.1:" + nodes.get(node).clientPort();
    }

    /**
     * The node that says it leads; waits for an election to end.
     *
     * @throws IllegalStateException if there is none within 40 s
     */
    public int leader() {
        Await.until("there is a leader", START_LIMIT, () -> findLeader() >= 0);
        int leader = findLeader();
        return leader >= 0 ? leader : leader();
    }

    /** Some node that does not lead at the moment. */
    public int follower() {
        return (leader() + 1) % SIZE;
    }

    /** What a node says of itself: {@code "leader"}, {@code "follower"}, or {@code "none"} while it serves no one. */
    public String mode(int node) {
        return nodes.get(node).mode();
    }

    /**
     * Returns once all three nodes serve.
     *
     * @throws IllegalStateException if they do not within {@code limit}, or if one of them has ended
     */
    public void awaitServing(Duration limit) {
        Await.until("three nodes serve", limit, () -> {
            nodes.stream()
                    .map(ZooKeeperEnsembleServer::child)
                    .filter(child -> !child.isAlive())
                    .forEach(child -> {
                        throw new IllegalStateException("A node has ended: " + child.lastLines());
                    });
            return nodes.stream().noneMatch(node -> node.mode().equals("none"));
        });
    }

    /**
     * Cuts a node off from the others, as a black hole: nothing arrives and no one is told. Its clients still reach it. A
     * leader serves them for up to the sync limit; so long, too, the others wait until they elect anew, unless they are
     * restarted. Meanwhile two nodes may say that they lead.
     */
    public void isolate(int node) {
        log.info("event=node-isolated node={}", node);
        links.isolate(node);
    }

    /** Ends every isolation; what was sent meanwhile arrives. */
    public void heal() {
        log.info("event=ensemble-healed");
        links.heal();
    }

    /** Stops a node in its tracks; its connections stay open. */
    public void pause(int node) {
        nodes.get(node).child().pause();
    }

    /** Lets a paused node go on. */
    public void resume(int node) {
        nodes.get(node).child().resume();
    }

    /** Kills a node without warning; it has ended when this returns. Its data stays. */
    public void kill(int node) {
        nodes.get(node).close();
    }

    /** Kills a node if it runs and starts it again with its data; see {@link #awaitServing}. */
    public void restart(int node) {
        nodes.get(node).restart();
    }

    /** Kills the nodes and deletes their data; idempotent. */
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
