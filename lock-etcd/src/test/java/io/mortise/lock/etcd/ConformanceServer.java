// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendOverLines;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.servers.BareEtcd;
import io.mortise.lock.testkit.servers.EtcdEntry;
import io.mortise.lock.testkit.servers.EtcdServerOptions;
import io.mortise.lock.testkit.servers.EtcdTestCluster;
import io.mortise.lock.testkit.servers.EtcdTestServer;
import io.mortise.lock.testkit.servers.Line;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The server or the cluster of a conformance test, which keeps its data over a restart. Each test has a namespace of its own,
 * and each client reaches each member over a line of its own. With a server from outside, which must be on this machine, what
 * needs a hand on the server is not verified.
 */
final class ConformanceServer implements AutoCloseable {
    private final String host;
    private final List<Integer> ports;
    private final @Nullable Hand hand; // null: the server is one from outside

    /**
     * On a server that is ours.
     *
     * @param restart it serves when that returns
     */
    private record Hand(Runnable stop, Runnable restart, Runnable close) {}

    private ConformanceServer(String host, List<Integer> ports, @Nullable Hand hand) {
        this.host = host;
        this.ports = ports;
        this.hand = hand;
    }

    static ConformanceServer start() {
        Optional<String> given = TestServers.given("etcd");
        if (given.isPresent()) {
            URI url = URI.create(given.get());
            return new ConformanceServer(url.getHost(), List.of(url.getPort()), null);
        }
        EtcdTestServer server =
                EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData());
        return new ConformanceServer(
                "127.0.0.1", List.of(server.port()), new Hand(server::stop, server::restart, server::close));
    }

    /** Three members, which are stopped at once: one that ends in good order hands its lead over first. */
    static ConformanceServer startCluster() {
        EtcdTestCluster cluster = EtcdTestCluster.start();
        return new ConformanceServer(
                "127.0.0.1",
                cluster.nodes().stream().map(EtcdTestServer::port).toList(),
                new Hand(cluster::killAll, cluster::restartAll, cluster::close));
    }

    /** A namespace that nobody has used yet. */
    BackendUnderTest namespace() {
        return new OneNamespace("conformance-" + UUID.randomUUID() + "/");
    }

    private Hand hand() {
        if (hand == null) {
            throw new UnsupportedOperationException("the server is not ours");
        }
        return hand;
    }

    @Override
    public void close() {
        if (hand != null) {
            hand.close.run();
        }
    }

    /** The lines of one client to all members, which break together. */
    private static final class Lines implements Line {
        private final List<TcpProxy> lines;

        Lines(String host, List<Integer> ports) {
            lines = ports.stream().map(port -> TcpProxy.to(host, port)).toList();
        }

        List<String> addresses() {
            return lines.stream().map(TcpProxy::address).toList();
        }

        @Override
        public void blackHole() {
            lines.forEach(TcpProxy::blackHole);
        }

        @Override
        public void cut() {
            lines.forEach(TcpProxy::cut);
        }

        /** One on each: nobody knows which of them the next request takes. */
        @Override
        public void dropNextReply() {
            lines.forEach(TcpProxy::dropNextReply);
        }

        @Override
        public void delay(Duration oneWay) {
            lines.forEach(line -> line.delay(oneWay));
        }

        @Override
        public void heal() {
            lines.forEach(TcpProxy::heal);
        }

        @Override
        public void close() {
            lines.forEach(TcpProxy::close);
        }
    }

    private final class OneNamespace extends BackendOverLines<Lines> {
        private final String namespace;

        OneNamespace(String namespace) {
            this.namespace = namespace;
        }

        @Override
        protected Lines newLine() {
            return new Lines(host, ports);
        }

        @Override
        protected LockClient connect(Lines line, ClientOptions options) {
            return EtcdLocks.connect(
                    EtcdOptions.connectTo(line.addresses()).namespace(namespace).leaseDuration(lease()), options);
        }

        /** Their leases. */
        @Override
        protected Set<String> sessions() {
            return bare().leases().stream().map(String::valueOf).collect(Collectors.toSet());
        }

        private BareEtcd bare() {
            return BareEtcd.connect(ports.get(0));
        }

        @Override
        public Optional<String> url() {
            String members = ports.stream().map(port -> host + ":" + port).collect(Collectors.joining(","));
            return Optional.of("etcd://" + members + "?namespace=" + namespace + "&lease=" + lease().toSeconds() + "s");
        }

        /** A renewal is a keepalive, which jetcd writes twice, and one read. */
        @Override
        public OptionalLong requests() {
            long sum = 0;
            for (int port : ports) {
                Map<String, Long> counts = BareEtcd.connect(port).requests();
                sum += counts.getOrDefault("Txn", 0L)
                        + counts.getOrDefault("Range", 0L)
                        - counts.getOrDefault("LeaseKeepAlive", 0L) / 2;
            }
            return OptionalLong.of(sum);
        }

        /** Its time is over as far as the server is concerned. */
        @Override
        public void expireSession(LockClient client) {
            bare().revokeLease(Long.parseLong(session(client)));
        }

        @Override
        public void deleteGrant(String lockName) {
            BareEtcd etcd = bare();
            etcd.list(new EtcdKeys(namespace).contenders(new LockName(lockName))).stream()
                    .min(Comparator.comparingLong(EtcdEntry::createRevision))
                    .ifPresent(holder -> etcd.delete(holder.key()));
        }

        @Override
        public void stopServer() {
            hand().stop.run();
        }

        @Override
        public void startServer() {
            hand().restart.run();
        }

        /** gRPC keeps threads for the whole JVM, and ends them a second after the last client. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return !name.startsWith("jetcd-") && !name.startsWith("mortise");
        }
    }
}
