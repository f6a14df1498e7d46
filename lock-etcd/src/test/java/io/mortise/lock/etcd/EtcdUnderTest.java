// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
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
import java.time.Duration;
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
 * A namespace of its own for one test of the kit, on a server or a cluster; each client reaches each member over a link of its
 * own.
 *
 * @param <S> a server or a cluster of our own
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

    static EtcdUnderTest<EtcdTestServer> on(TestServerExtension<EtcdTestServer> server) {
        return new EtcdUnderTest<>(server, EtcdTestServer::stop, EtcdTestServer::restart);
    }

    /** All its members are stopped at once: one that ends in good order hands its lead over first. */
    static EtcdUnderTest<EtcdTestCluster> onCluster(TestServerExtension<EtcdTestCluster> cluster) {
        return new EtcdUnderTest<>(cluster, EtcdTestCluster::killAll, EtcdTestCluster::restartAll);
    }

    /** It keeps its data over a restart. One from outside must be on this machine, and may serve others at the same time. */
    static TestServerExtension<EtcdTestServer> server() {
        return new TestServerExtension<>(
                "etcd", () -> EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData()), EtcdTestServer::url);
    }

    /** Three members. One from outside is given by all its members, and otherwise as {@link #server}. */
    static TestServerExtension<EtcdTestCluster> cluster() {
        return new TestServerExtension<>("etcd.cluster", EtcdTestCluster::start, EtcdTestCluster::url);
    }

    /** The shorter default does not stand a machine that stalls: a renewal must be answered within three quarters of it. */
    @Override
    public Duration lease() {
        return Duration.ofSeconds(3);
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

    /** The leases of this namespace. */
    @Override
    protected Set<String> sessions() {
        return bare().list(namespace + "%session/").stream()
                .map(session -> String.valueOf(session.lease()))
                .collect(Collectors.toSet());
    }

    private RawEtcd bare() {
        return RawEtcd.connect(members.get(0).getPort());
    }

    @Override
    public Optional<String> url() {
        String addresses = members.stream().map(URI::getAuthority).collect(Collectors.joining(","));
        return Optional.of("etcd://" + addresses + "?namespace=" + namespace + "&lease=" + lease().toSeconds() + "s");
    }

    /** A renewal is a keepalive, which jetcd writes twice, and one read. */
    @Override
    public OptionalLong requests() {
        if (server.ifOwn().isEmpty()) {
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

    /** Its time has passed as far as the server is concerned. */
    @Override
    public void expireSession(LockClient client) {
        bare().revokeLease(Long.parseLong(session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        RawEtcd etcd = bare();
        etcd.list(new EtcdKeyLayout(namespace).contenders(new LockName(lockName))).stream()
                .min(Comparator.comparingLong(EtcdEntry::createRevision))
                .ifPresent(holder -> etcd.delete(holder.key()));
    }

    @Override
    public void stopServer() {
        stop.accept(server.own());
    }

    @Override
    public void startServer() {
        restart.accept(server.own());
    }

    /** gRPC keeps threads for the whole JVM, and ends them a second after the last client. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("jetcd-") && !name.startsWith("mortise");
    }
}
