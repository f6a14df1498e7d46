// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.servers.process.TestCertificate;
import io.mortise.lock.testkit.process.Await;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real etcd server, which can be paused and killed, on free ports of 127.0.0.1 with its data in a temporary directory. It
 * ends with this JVM, however that ends. Thread-safe.
 *
 * <p>Its program is {@code etcd} on the PATH, 3.4 or newer, or the one that system property {@code mortise.test.etcd.binary} or
 * environment variable {@code MORTISE_TEST_ETCD_BINARY} names. It grants no lease that is shorter than 2 s.
 */
public final class EtcdTestServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EtcdTestServer.class);
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final String HOST = "127.0.0.1";

    private final EtcdServerOptions options;
    private final TempDir dir;
    private final EtcdMemberConfig member;
    private final boolean ownsDir;
    private final ServerNode node;

    /** Starts one of {@code all}, but does not wait for it; its certificates must be in the directory already. */
    EtcdTestServer(EtcdServerOptions options, TempDir dir, EtcdMemberConfig member, List<EtcdMemberConfig> all) {
        this.options = options;
        this.dir = dir;
        this.member = member;
        this.ownsDir = all.size() == 1;
        List<String> command = member.command(options, dir.path(), all);
        // None serves until most of them have started, so whoever has started them all waits.
        this.node = new ServerNode("etcd-" + member.port(), dir.path(), command, started -> {});
        log.info("event=etcd-started port={} pid={} dir={}", member.port(), node.pid(), dir.path());
    }

    /** Starts a server with {@link EtcdServerOptions#defaults()}; it serves when this returns. */
    public static EtcdTestServer start() {
        return start(EtcdServerOptions.defaults());
    }

    /**
     * Starts a server; it serves when this returns.
     *
     * @throws IllegalStateException if there is no such program on this machine, or it refuses the options; it says which
     */
    public static EtcdTestServer start(EtcdServerOptions options) {
        return ServerNode.onFreePorts(EtcdMemberConfig.PORTS, ports -> start(options, EtcdMemberConfig.on(ports)));
    }

    private static EtcdTestServer start(EtcdServerOptions options, List<EtcdMemberConfig> alone) {
        TempDir dir = TempDir.create("etcd");
        @Nullable EtcdTestServer server = null;
        try {
            EtcdCertificates.create(dir.path(), options);
            server = new EtcdTestServer(options, dir, alone.get(0), alone);
            server.awaitServing();
            return server;
        } catch (RuntimeException e) {
            if (server != null) {
                server.close();
            }
            dir.close();
            throw e;
        }
    }

    /** The port without TLS; the same after a restart. */
    public int port() {
        return member.port();
    }

    /** {@code etcd://127.0.0.1:port}, with root and its password if it has one; the same after a restart. */
    public String url() {
        return url("etcd", member.port());
    }

    /** {@code etcds://127.0.0.1:port}, with root and its password if it has one; only with {@link EtcdServerOptions#tls()}. */
    public String tlsUrl() {
        return url("etcds", tlsPort());
    }

    /** {@code http://127.0.0.1:port}, as etcd's own tools and clients want it; the same after a restart. */
    public String endpoint() {
        return "http://" + HOST + ":" + member.port();
    }

    /** {@code https://127.0.0.1:port}; only with {@link EtcdServerOptions#tls()}. */
    public String tlsEndpoint() {
        return "https://" + HOST + ":" + tlsPort();
    }

    private int tlsPort() {
        require(options.tls(), "TLS");
        return member.tlsPort();
    }

    /** Its self-signed certificate as a PEM file, for a client to trust; only with {@link EtcdServerOptions#tls()}. */
    public Path certificate() {
        require(options.tls(), "TLS");
        return TestCertificate.certificate(dir.path());
    }

    /** The certificate that it wants of its clients, a PEM file; only with {@link EtcdServerOptions#clientCertificates()}. */
    public Path clientCertificate() {
        require(options.clientCertificates(), "client certificates");
        return EtcdCertificates.clientCertificate(dir.path());
    }

    /** The key of {@link #clientCertificate()}, a PEM file without a password, PKCS #8. */
    public Path clientKey() {
        require(options.clientCertificates(), "client certificates");
        return EtcdCertificates.clientKey(dir.path());
    }

    /** Bare requests to this server, of the user root if it has a password. */
    public RawEtcd connect() {
        return options.rootPassword()
                .map(password -> RawEtcd.connect(port(), EtcdUsers.ROOT, password))
                .orElseGet(() -> RawEtcd.connect(port()));
    }

    /**
     * A new user, who may read and write the keys with that prefix; only with {@link EtcdServerOptions#rootPassword()}.
     *
     * @param prefix not empty
     */
    public void addUser(String name, String password, String prefix) {
        require(options.rootPassword().isPresent(), "users");
        EtcdUsers.add(connect(), name, password, prefix);
    }

    /** As {@link RawEtcd#status()}; empty while it does not answer. */
    Optional<EtcdStatus> status() {
        // Of nobody: it answers anybody, and knows no users while it has no leader.
        return isAlive() && !isPaused() ? RawEtcd.connect(port()).ask(RawEtcd::status) : Optional.empty();
    }

    /** The process id of the server's present life. */
    public long pid() {
        return node.pid();
    }

    /** Whether its process exists; a paused one does. */
    public boolean isAlive() {
        return node.isAlive();
    }

    /** Whether its process is stopped. */
    public boolean isPaused() {
        return node.isPaused();
    }

    /** The last lines of its log, which has only errors. */
    public String lastLines() {
        return node.lastLines();
    }

    /** Stops the server in its tracks (SIGSTOP); its connections stay open. */
    public void pause() {
        node.pause();
    }

    /** Lets a paused server go on. */
    public void resume() {
        node.resume();
    }

    /** Ends the server in good order (SIGTERM), paused or not; it has ended when this returns. {@link #restart()} brings it back. */
    public void stop() {
        node.stop();
    }

    /** Kills the server without warning, paused or not; it has ended when this returns. {@link #restart()} brings it back. */
    public void kill() {
        node.kill();
    }

    /**
     * Kills the server if it runs, and starts it again on the same ports; it serves when this returns. It has its data again
     * with {@link EtcdServerOptions#keepsData()}, after an election timeout or two, and its leases live for as long as new ones;
     * else it has none, and its revisions start anew.
     *
     * @throws IllegalStateException if it does not serve within 30 s, as a node of a cluster most of whose nodes are down
     */
    public void restart() {
        startAgain();
        awaitServing();
    }

    /** As {@link #restart()}, but does not wait. */
    void startAgain() {
        node.kill();
        if (!options.keepsData()) {
            TempDir.delete(member.data(dir.path()));
        }
        node.restart();
    }

    /** Waits until it answers a linearizable read, and asks for passwords if it is to. */
    void awaitServing() {
        RawEtcd etcd = connect();
        Await.until(member.name() + " serves", START_LIMIT, () -> {
            node.requireAlive();
            return etcd.ask(this::isItself).orElse(false)
                    && etcd.ask(RawEtcd::revision).isPresent();
        });
        options.rootPassword().ifPresent(password -> EtcdUsers.enable(etcd, password));
    }

    /** Whether it is this server that answers, and not another one that has its port. */
    private boolean isItself(RawEtcd etcd) {
        return member.name().equals(etcd.memberNames().get(etcd.status().member()));
    }

    /** Kills the server and deletes its data, that of a node with its cluster; idempotent. */
    @Override
    public void close() {
        try {
            node.close();
        } finally {
            if (ownsDir) {
                dir.close();
            }
        }
    }

    private String url(String scheme, int port) {
        @Nullable
        String user = options.rootPassword()
                .map(secret -> EtcdUsers.ROOT + ":" + secret)
                .orElse(null);
        try {
            return new URI(scheme, user, HOST, port, null, null, null).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void require(boolean present, String what) {
        if (!present) {
            throw new IllegalStateException("The server was started without " + what);
        }
    }
}
