// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendOverLines;
import io.mortise.lock.testkit.ConformanceServer;
import io.mortise.lock.testkit.servers.BareEtcd;
import io.mortise.lock.testkit.servers.EtcdEntry;
import io.mortise.lock.testkit.servers.EtcdServerOptions;
import io.mortise.lock.testkit.servers.EtcdTestServer;
import io.mortise.lock.testkit.servers.TcpProxy;
import java.net.URI;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** A namespace of its own for one test of the kit; each client reaches the server over a line of its own. */
final class EtcdUnderTest extends BackendOverLines<TcpProxy> {
    private final String namespace = "conformance-" + UUID.randomUUID() + "/";
    private final ConformanceServer<EtcdTestServer> server;
    private final String host;
    private final int port;

    EtcdUnderTest(ConformanceServer<EtcdTestServer> server) {
        URI url = URI.create(server.address());
        this.server = server;
        this.host = url.getHost();
        this.port = url.getPort();
    }

    /** It keeps its data over a restart. One from outside must be on this machine, and may serve others at the same time. */
    static ConformanceServer<EtcdTestServer> server() {
        return new ConformanceServer<>(
                "etcd", () -> EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData()), EtcdTestServer::url);
    }

    @Override
    protected TcpProxy newLine() {
        return TcpProxy.to(host, port);
    }

    @Override
    protected LockClient connect(TcpProxy line, ClientOptions options) {
        return EtcdLocks.connect(
                EtcdOptions.connectTo(List.of(line.address()))
                        .namespace(namespace)
                        .leaseDuration(lease()),
                options);
    }

    /** The leases of this namespace. */
    @Override
    protected Set<String> sessions() {
        return bare().list(namespace + "%session/").stream()
                .map(session -> String.valueOf(session.lease()))
                .collect(Collectors.toSet());
    }

    private BareEtcd bare() {
        return BareEtcd.connect(port);
    }

    @Override
    public Optional<String> url() {
        return Optional.of(
                "etcd://" + host + ":" + port + "?namespace=" + namespace + "&lease=" + lease().toSeconds() + "s");
    }

    /** A renewal is a keepalive, which jetcd writes twice, and one read. */
    @Override
    public OptionalLong requests() {
        if (server.ifOwn().isEmpty()) {
            return OptionalLong.empty();
        }
        Map<String, Long> counts = bare().requests();
        return OptionalLong.of(counts.getOrDefault("Txn", 0L)
                + counts.getOrDefault("Range", 0L)
                - counts.getOrDefault("LeaseKeepAlive", 0L) / 2);
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
        server.own().stop();
    }

    @Override
    public void startServer() {
        server.own().restart();
    }

    /** gRPC keeps threads for the whole JVM, and ends them a second after the last client. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("jetcd-") && !name.startsWith("mortise");
    }
}
