// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.ServerSource;
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
 * A real etcd cluster of three nodes on free ports of 127.0.0.1. Two nodes serve without the third one, after an election if it
 * was the leader. The nodes end with this JVM, even if it is killed. Thread-safe.
 *
 * <p>Each node may be paused, resumed, killed and, while another node runs, restarted; a restarted node always has its data. A
 * leader whose followers are all paused or dead, or which has been paused itself, considers itself the leader until it learns
 * otherwise.
 */
public final class EtcdTestCluster implements AutoCloseable {
    /** Number of nodes. */
    public static final int SIZE = 3;

    private static final Logger log = LoggerFactory.getLogger(EtcdTestCluster.class);
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final int MAJORITY = SIZE / 2 + 1;

    private final TempDir dir = TempDir.create("etcd-cluster");
    private final List<EtcdTestServer> nodes = new ArrayList<>();

    private EtcdTestCluster(EtcdServerOptions options, List<EtcdMemberConfig> members) {
        EtcdServerOptions keeping = options.withKeptData();
        try {
            EtcdCertificateGenerator.create(dir.path(), keeping);
            // The members connect to each other on 127.0.0.1, which containers could not.
            ServerSource program = new ServerSource.Program(ServerBinary.etcd());
            members.forEach(member -> nodes.add(new EtcdTestServer(keeping, program, dir, member, members)));
            awaitServing();
            log.info("event=cluster-started nodes={}", addresses());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts a cluster with {@link EtcdServerOptions#defaults()}; returns when it serves. */
    public static EtcdTestCluster start() {
        return start(EtcdServerOptions.defaults());
    }

    /**
     * Starts a cluster whose nodes all have these options; returns when it serves. All nodes share certificates and users.
     * Arguments such as {@code --heartbeat-interval}, {@code 50}, {@code --election-timeout}, {@code 500} make elections faster
     * and the minimum lease shorter, but are too tight for a busy machine.
     */
    public static EtcdTestCluster start(EtcdServerOptions options) {
        return ServerNode.onFreePorts(
                SIZE * EtcdMemberConfig.PORTS, ports -> new EtcdTestCluster(options, EtcdMemberConfig.on(ports)));
    }

    /** Returns the addresses of all nodes, {@code 127.0.0.1:port,127.0.0.1:port,…}; they never change. */
    public String addresses() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** Returns one URL for all nodes, {@code etcd://127.0.0.1:port,…}, with the root user if there is a root password. */
    public String url() {
        return joined(EtcdTestServer::url);
    }

    /** Returns the URL for TLS, {@code etcds://127.0.0.1:port,…}; only with {@link EtcdServerOptions#tls()}. */
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

    /** Returns all nodes. */
    public List<EtcdTestServer> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * Returns the leader on which all responding nodes agree; waits for an election to end.
     *
     * @throws IllegalStateException if there is none within 40 s
     */
    public EtcdTestServer leader() {
        return await("there is a leader", nodes);
    }

    /** Returns the nodes other than the current leader, including nodes that do not run. */
    public List<EtcdTestServer> followers() {
        EtcdTestServer leader = leader();
        return nodes.stream().filter(node -> node != leader).toList();
    }

    /**
     * Waits until the nodes other than {@code old} serve with a leader among themselves, and returns that leader.
     *
     * @throws IllegalStateException if they have no leader within 40 s
     */
    public EtcdTestServer awaitLeaderOtherThan(EtcdTestServer old) {
        return await(
                "another leader than port " + old.port(),
                nodes.stream().filter(node -> node != old).toList());
    }

    /** Kills the leader, waits one or two election timeouts until another node leads, and returns the new leader. */
    public EtcdTestServer failOver() {
        EtcdTestServer old = leader();
        old.kill();
        return awaitLeaderOtherThan(old);
    }

    /** Transfers the leadership gracefully to a running node; returns when that node leads. */
    public void moveLeader(EtcdTestServer to) {
        EtcdTestServer leader = leader();
        if (leader != to) {
            long target = to.connect().status().member();
            leader.connect().call("maintenance/transfer-leadership", Map.of("targetID", Long.toUnsignedString(target)));
            Await.until("port " + to.port() + " leads", LIMIT, () -> leader() == to);
        }
    }

    /** Kills all nodes, as a power failure would. */
    public void killAll() {
        nodes.forEach(EtcdTestServer::kill);
    }

    /** Kills the running nodes and starts all nodes again; returns when they serve. */
    public void restartAll() {
        nodes.forEach(EtcdTestServer::restartWithoutWaiting);
        awaitServing();
    }

    /**
     * Waits until all nodes serve.
     *
     * @throws IllegalStateException if a node does not serve within 30 s or has ended, or if there is no leader within 40 s
     */
    public void awaitServing() {
        nodes.forEach(EtcdTestServer::awaitServing);
        leader();
    }

    /** Returns the leader if it is one of {@code voters}, and all voters that reply agree on it and are a majority. */
    private static Optional<EtcdTestServer> leaderAmong(List<EtcdTestServer> voters) {
        Set<List<Long>> views = new HashSet<>();
        List<EtcdTestServer> leading = new ArrayList<>();
        int replies = 0;
        for (EtcdTestServer node : voters) {
            Optional<EtcdStatus> status = node.status();
            if (status.isPresent()) {
                replies++;
                views.add(List.of(status.get().leader(), status.get().term()));
                if (status.get().leads()) {
                    leading.add(node);
                }
            }
        }
        boolean agreed = replies >= MAJORITY && views.size() == 1;
        return agreed ? leading.stream().findFirst() : Optional.empty();
    }

    private static EtcdTestServer await(String what, List<EtcdTestServer> voters) {
        List<EtcdTestServer> found = new ArrayList<>();
        Await.until(
                what,
                LIMIT,
                () -> leaderAmong(voters)
                        .filter(leader ->
                                leader.connect().tryCall(RawEtcd::revision).isPresent())
                        .filter(found::add)
                        .isPresent());
        return found.get(0);
    }

    /** Kills all nodes and deletes their data. Idempotent. */
    @Override
    public void close() {
        try (dir) {
            nodes.forEach(EtcdTestServer::close);
        }
    }
}
