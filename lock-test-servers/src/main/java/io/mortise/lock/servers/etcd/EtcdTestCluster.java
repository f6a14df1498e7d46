// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real etcd cluster of three nodes on free ports of 127.0.0.1. Two of them serve without the third, after an election if that
 * led. They end with this JVM, however that ends. Thread-safe.
 *
 * <p>Each may be paused, resumed, killed and, while another one runs, restarted. It always has its data again. A leader whose
 * followers are all paused or dead, or which has been paused itself, believes that it leads until it hears otherwise.
 */
public final class EtcdTestCluster implements AutoCloseable {
    /** How many nodes there are. */
    public static final int SIZE = 3;

    private static final Logger log = LoggerFactory.getLogger(EtcdTestCluster.class);
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final int MAJORITY = SIZE / 2 + 1;

    private final TempDir dir = TempDir.create("etcd-cluster");
    private final List<EtcdTestServer> nodes = new ArrayList<>();

    private EtcdTestCluster(EtcdServerOptions options, List<EtcdMemberConfig> members) {
        EtcdServerOptions keeping = options.withKeptData();
        try {
            EtcdCertificates.create(dir.path(), keeping);
            members.forEach(member -> nodes.add(new EtcdTestServer(keeping, dir, member, members)));
            awaitServing();
            log.info("event=cluster-started nodes={}", addresses());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts a cluster with {@link EtcdServerOptions#defaults()}; it serves when this returns. */
    public static EtcdTestCluster start() {
        return start(EtcdServerOptions.defaults());
    }

    /**
     * Starts a cluster, each of its nodes with these options; it serves when this returns. Certificates and users are the same
     * for all. Elections are quicker, and the shortest lease that is granted is shorter, with arguments such as {@code
     * --heartbeat-interval}, {@code 50}, {@code --election-timeout}, {@code 500}; too quick for a busy machine.
     */
    public static EtcdTestCluster start(EtcdServerOptions options) {
        return ServerNode.onFreePorts(
                SIZE * EtcdMemberConfig.PORTS, ports -> new EtcdTestCluster(options, EtcdMemberConfig.on(ports)));
    }

    /** All nodes, {@code 127.0.0.1:port,127.0.0.1:port,…}; the same for good. */
    public String addresses() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** All nodes as one URL, {@code etcd://127.0.0.1:port,…}, with root and its password if they have one. */
    public String url() {
        return joined(EtcdTestServer::url);
    }

    /** As {@link #url()}, {@code etcds://}; only with {@link EtcdServerOptions#tls()}. */
    public String tlsUrl() {
        return joined(EtcdTestServer::tlsUrl);
    }

    private String joined(Function<EtcdTestServer, String> url) {
        String first = url.apply(nodes.get(0));
        return nodes.stream()
                .skip(1)
                .map(url)
                .map(other -> other.substring(other.lastIndexOf('/') + 1))
                .map(other -> other.substring(other.lastIndexOf('@') + 1))
                .collect(Collectors.joining(",", first + ",", ""));
    }

    /** All nodes. */
    public List<EtcdTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * The node that leads, as all that answer see it; waits for an election to end.
     *
     * @throws IllegalStateException if there is none within 40 s
     */
    public EtcdTestServer leader() {
        return await("there is a leader", nodes);
    }

    /** The nodes that do not lead at the moment, whether they run or not. */
    public List<EtcdTestServer> followers() {
        EtcdTestServer leader = leader();
        return nodes.stream().filter(node -> node != leader).toList();
    }

    /**
     * Waits until the others have a leader among themselves, and serve.
     *
     * @throws IllegalStateException if they have none within 40 s
     */
    public EtcdTestServer awaitLeaderOtherThan(EtcdTestServer old) {
        return await(
                "another leader than port " + old.port(),
                nodes.stream().filter(node -> node != old).toList());
    }

    /** Kills the leader and waits until another node leads; takes an election timeout or two. Returns the new leader. */
    public EtcdTestServer failOver() {
        EtcdTestServer old = leader();
        old.kill();
        return awaitLeaderOtherThan(old);
    }

    /** Has the leader hand over to a node that runs, in good order; it leads when this returns. */
    public void moveLeader(EtcdTestServer to) {
        EtcdTestServer leader = leader();
        if (leader != to) {
            long target = to.connect().status().member();
            leader.connect().call("maintenance/transfer-leadership", Map.of("targetID", Long.toUnsignedString(target)));
            Await.until("port " + to.port() + " leads", LIMIT, () -> leader() == to);
        }
    }

    /** Kills all nodes at once, as a power cut does. */
    public void killAll() {
        nodes.forEach(EtcdTestServer::kill);
    }

    /** Kills the nodes that run, and starts all again; they serve when this returns. */
    public void restartAll() {
        nodes.forEach(EtcdTestServer::startAgain);
        awaitServing();
    }

    /**
     * Waits until all nodes serve.
     *
     * @throws IllegalStateException if they do not within a limit of 30 s and more, or one of them has ended
     */
    public void awaitServing() {
        nodes.forEach(EtcdTestServer::awaitServing);
        leader();
    }

    /** The leader, if it is one of {@code voters}, all of those that answer agree about it, and they are a majority. */
    private static Optional<EtcdTestServer> leaderAmong(List<EtcdTestServer> voters) {
        Set<List<Long>> views = new HashSet<>();
        List<EtcdTestServer> leading = new ArrayList<>();
        int answers = 0;
        for (EtcdTestServer node : voters) {
            Optional<EtcdStatus> status = node.status();
            if (status.isPresent()) {
                answers++;
                views.add(List.of(status.get().leader(), status.get().term()));
                if (status.get().leads()) {
                    leading.add(node);
                }
            }
        }
        boolean agreed = answers >= MAJORITY && views.size() == 1;
        return agreed ? leading.stream().findFirst() : Optional.empty();
    }

    private static EtcdTestServer await(String what, List<EtcdTestServer> voters) {
        List<EtcdTestServer> found = new ArrayList<>();
        Await.until(
                what,
                LIMIT,
                () -> leaderAmong(voters)
                        .filter(leader ->
                                leader.connect().ask(RawEtcd::revision).isPresent())
                        .filter(found::add)
                        .isPresent());
        return found.get(0);
    }

    /** Kills all nodes and deletes their data; idempotent. */
    @Override
    public void close() {
        try (dir) {
            nodes.forEach(EtcdTestServer::close);
        }
    }
}
