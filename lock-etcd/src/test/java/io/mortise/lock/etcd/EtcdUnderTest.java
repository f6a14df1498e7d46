// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.servers.TestServers;
import io.mortise.lock.servers.etcd.EtcdEntry;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.ClusterLinks;
import java.net.URI;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Gives each conformance test a new namespace on an etcd server or cluster, and each client its own links to the members.
 *
 * @param <S> the server or cluster, as started by the tests
 */
final class EtcdUnderTest<S extends AutoCloseable> extends LinkedBackendUnderTest<ClusterLinks> {
    private final String namespace = "conformance-" + UUID.randomUUID() + "/";
    private final TestServerExtension<S> server;
    private final Consumer<S> stop;
    private final Consumer<S> restart;
    private final List<URI> members;

    private EtcdUnderTest(TestServerExtension<S> server, Consumer<S> stop, Consumer<S> restart) {
        this.server = server;
        this.stop = stop;
        this.restart = restart;
        this.members = Arrays.stream(URI.create(server.address()).getAuthority().split(","))
                .map(member -> URI.create("etcd://" + member))
                .toList();
    }

    @Override
    public String description() {
        return "etcd, " + (members.size() == 1 ? "one member" : members.size() + " members");
    }

    static EtcdUnderTest<EtcdTestServer> on(TestServerExtension<EtcdTestServer> server) {
        return new EtcdUnderTest<>(server, EtcdTestServer::stop, EtcdTestServer::restart);
    }

    /**
     * Returns a backend on a cluster whose members are all stopped at once: a member that shuts down regularly first hands
     * over its leadership.
     */
    static EtcdUnderTest<EtcdTestCluster> onCluster(TestServerExtension<EtcdTestCluster> cluster) {
        return new EtcdUnderTest<>(cluster, EtcdTestCluster::killAll, EtcdTestCluster::restartAll);
    }

    /**
     * Returns a server that keeps its data over a restart. An external server must be on this machine, and may serve others
     * at the same time.
     */
    static TestServerExtension<EtcdTestServer> server() {
        return TestServers.etcd(EtcdServerOptions.defaults().withKeptData());
    }

    /**
     * Returns a cluster of three members. An external cluster is specified by all its members, and otherwise as for {@link
     * #server}.
     */
    static TestServerExtension<EtcdTestCluster> cluster() {
        return new TestServerExtension<>("etcd.cluster", EtcdTestCluster::start, EtcdTestCluster::url);
    }

    @Override
    protected ClusterLinks newLink() {
        return new ClusterLinks(members.stream().map(URI::getAuthority).toList());
    }

    @Override
    protected LockClient connect(ClusterLinks link, ClientOptions options) {
        return EtcdLocks.connect(
                EtcdOptions.connectTo(link.addresses()).namespace(namespace).leaseDuration(lease()), options);
    }

    /** Returns the leases of the sessions in this namespace. */
    @Override
    protected Set<String> sessions() {
        return raw().list(namespace + "%session/").stream()
                .map(session -> String.valueOf(session.lease()))
                .collect(Collectors.toSet());
    }

    private RawEtcd raw() {
        return RawEtcd.connect(members.get(0).getPort());
    }

    @Override
    public Optional<String> url() {
        String addresses = members.stream().map(URI::getAuthority).collect(Collectors.joining(","));
        return Optional.of("etcd://" + addresses + "?namespace=" + namespace + "&lease=" + lease().toSeconds() + "s");
    }

    /** Counts a renewal as a keepalive, which jetcd sends twice, and one read. */
    @Override
    public OptionalLong requests() {
        if (server.startedServerIfAny().isEmpty()) {
            return OptionalLong.empty();
        }
        long sum = 0;
        for (URI member : members) {
            Map<String, Long> counts = RawEtcd.connect(member.getPort()).requests();
            sum += counts.getOrDefault("Txn", 0L)
                    + counts.getOrDefault("DeleteRange", 0L)
                    + counts.getOrDefault("Range", 0L)
                    - counts.getOrDefault("LeaseKeepAlive", 0L) / 2;
        }
        return OptionalLong.of(sum);
    }

    /** Ends the session as if its time had passed on the server. */
    @Override
    public void expireSession(LockClient client) {
        raw().revokeLease(Long.parseLong(session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        RawEtcd etcd = raw();
        etcd.list(new EtcdKeyLayout(namespace).contenderPrefix(new LockName(lockName))).stream()
                .min(Comparator.comparingLong(EtcdEntry::createRevision))
                .ifPresent(holder -> etcd.delete(holder.key()));
    }

    @Override
    public void stopServer() {
        stop.accept(server.startedServer());
    }

    @Override
    public void startServer() {
        restart.accept(server.startedServer());
    }

    /** gRPC keeps threads for the whole JVM, and ends them a second after the last client. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("jetcd-") && !name.startsWith("mortise");
    }
}
