// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.ServerContainer;
import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.ServerProcess;
import io.mortise.lock.servers.process.ServerSource;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.servers.process.TestCertificateGenerator;
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
 * A real etcd server for tests, which can be paused and killed. It uses free ports of 127.0.0.1 and a temporary
 * directory for its data, and ends with this JVM, even if the JVM is killed. Thread-safe.
 *
 * <p>The program is {@code etcd} on the PATH, 3.4 or newer, or the one given by the system property {@code
 * mortise.test.etcd.binary} or the environment variable {@code MORTISE_TEST_ETCD_BINARY}. Without a program the server runs
 * in a container, see {@link ServerSource#etcd()}: there it has no {@link #pid()}. The server grants no leases shorter than 2 s.
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

    /** Starts one member of {@code all} without waiting for it; its certificates must already be in the directory. */
    EtcdTestServer(
            EtcdServerOptions options,
            ServerSource source,
            TempDir dir,
            EtcdMemberConfig member,
            List<EtcdMemberConfig> all) {
        this.options = options;
        this.dir = dir;
        this.member = member;
        this.ownsDir = all.size() == 1;
        List<String> command = member.command(options, source, dir.path(), all);
        // No member serves before most of them have started, so the caller waits after it has started all of them.
        if (source instanceof ServerSource.Image image) {
            List<Integer> ports = options.tls() ? List.of(member.port(), member.tlsPort()) : List.of(member.port());
            this.node = new ServerContainer(image, dir.path(), command, ports, options.keepsData(), () -> true);
        } else {
            this.node = new ServerProcess("etcd-" + member.port(), dir.path(), command, started -> {});
        }
        log.info("event=etcd-started port={} {} dir={}", member.port(), node, dir.path());
    }

    /** Starts a server with {@link EtcdServerOptions#defaults()}; returns when it serves. */
    public static EtcdTestServer start() {
        return start(EtcdServerOptions.defaults());
    }

    /**
     * Starts a server; returns when it serves.
     *
     * @throws IllegalStateException if there is neither the program nor a container engine on this machine, or if the server
     *     rejects the options; the message says which
     */
    public static EtcdTestServer start(EtcdServerOptions options) {
        ServerSource source = ServerSource.etcd();
        return ServerNode.onFreePorts(
                EtcdMemberConfig.PORTS, ports -> start(options, source, EtcdMemberConfig.on(ports)));
    }

    private static EtcdTestServer start(EtcdServerOptions options, ServerSource source, List<EtcdMemberConfig> alone) {
        TempDir dir = TempDir.create("etcd");
        @Nullable EtcdTestServer server = null;
        try {
            EtcdCertificateGenerator.create(dir.path(), options);
            server = new EtcdTestServer(options, source, dir, alone.get(0), alone);
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

    /** Returns the port without TLS; a restart does not change it. */
    public int port() {
        return member.port();
    }

    /** Returns the URL {@code etcd://127.0.0.1:port}, with the root password if there is one; the same after a restart. */
    public String url() {
        return url("etcd", member.port());
    }

    /**
     * Returns the URL {@code etcds://127.0.0.1:port} for TLS; only with {@link EtcdServerOptions#tls()}. See {@link #url()}.
     */
    public String tlsUrl() {
        return url("etcds", tlsPort());
    }

    /** Returns the endpoint {@code http://127.0.0.1:port} for etcd's own tools and clients; a restart does not change it. */
    public String endpoint() {
        return "http://" + HOST + ":" + member.port();
    }

    /** Returns the endpoint {@code https://127.0.0.1:port}; only with {@link EtcdServerOptions#tls()}. */
    public String tlsEndpoint() {
        return "https://" + HOST + ":" + tlsPort();
    }

    private int tlsPort() {
        require(options.tls(), "TLS");
        return member.tlsPort();
    }

    /** Returns the server's self-signed certificate as a PEM file; only with {@link EtcdServerOptions#tls()}. */
    public Path certificate() {
        require(options.tls(), "TLS");
        return TestCertificateGenerator.certificate(dir.path());
    }

    /** Returns the required client certificate as a PEM file; only with {@link EtcdServerOptions#clientCertificates()}. */
    public Path clientCertificate() {
        require(options.clientCertificates(), "client certificates");
        return EtcdCertificateGenerator.clientCertificate(dir.path());
    }

    /** Returns the private key of {@link #clientCertificate()} as a PEM file (PKCS #8) without a password. */
    public Path clientKey() {
        require(options.clientCertificates(), "client certificates");
        return EtcdCertificateGenerator.clientKey(dir.path());
    }

    /** Returns a client for raw requests to this server, which uses the user root if there is a root password. */
    public RawEtcd connect() {
        return options.rootPassword()
                .map(password -> RawEtcd.connect(port(), EtcdUsers.ROOT, password))
                .orElseGet(() -> RawEtcd.connect(port()));
    }

    /**
     * Adds a user who may read and write the keys with a prefix; only with {@link EtcdServerOptions#rootPassword()}.
     *
     * @param prefix prefix of the keys, not empty
     */
    public void addUser(String name, String password, String prefix) {
        require(options.rootPassword().isPresent(), "users");
        EtcdUsers.add(connect(), name, password, prefix);
    }

    /** Returns the status as {@link RawEtcd#status()} does; empty while the server does not reply. */
    Optional<EtcdStatus> status() {
        // Without a user: this request needs none, and a node without a leader cannot authenticate users.
        return isAlive() && !isPaused() ? RawEtcd.connect(port()).tryCall(RawEtcd::status) : Optional.empty();
    }

    /** Returns the process id since the last start; throws an {@link UnsupportedOperationException} in a container. */
    public long pid() {
        return node.pid();
    }

    /** Returns whether the process exists, paused or not. */
    public boolean isAlive() {
        return node.isAlive();
    }

    /** Returns whether the process is paused. */
    public boolean isPaused() {
        return node.isPaused();
    }

    /** Returns the last lines of the log, which contains only errors. */
    public String lastLines() {
        return node.lastLines();
    }

    /** Pauses the server (SIGSTOP); its connections stay open. */
    public void pause() {
        node.pause();
    }

    /** Resumes a paused server. */
    public void resume() {
        node.resume();
    }

    /** Stops the server gracefully (SIGTERM), paused or not, and waits for its end. {@link #restart()} starts it again. */
    public void stop() {
        node.stop();
    }

    /** Kills the server (SIGKILL), paused or not, and waits for its end. {@link #restart()} starts it again. */
    public void kill() {
        node.kill();
    }

    /**
     * Kills the server if it runs, and starts it again on the same ports; returns when it serves. With
     * {@link EtcdServerOptions#keepsData()} it has its data after one or two election timeouts, and its leases last as long as
     * new ones; otherwise it has no data, and its revisions start again at 1.
     *
     * @throws IllegalStateException if it does not serve within 30 s, such as a node of a cluster most of whose nodes are down
     */
    public void restart() {
        restartWithoutWaiting();
        awaitServing();
    }

    /** Does the same as {@link #restart()}, without waiting. */
    void restartWithoutWaiting() {
        node.kill();
        if (!options.keepsData()) {
            TempDir.delete(member.data(dir.path()));
        }
        node.restart();
    }

    /** Waits until the server replies to a linearizable read, then enables authentication if the options require it. */
    void awaitServing() {
        RawEtcd etcd = connect();
        Await.until(member.name() + " serves", START_LIMIT, () -> {
            node.requireAlive();
            return etcd.tryCall(this::isThisServer).orElse(false)
                    && etcd.tryCall(RawEtcd::revision).isPresent();
        });
        options.rootPassword().ifPresent(password -> EtcdUsers.enable(etcd, password));
    }

    /** Returns whether this server replies, rather than another one on the same port. */
    private boolean isThisServer(RawEtcd etcd) {
        return member.name().equals(etcd.memberNames().get(etcd.status().member()));
    }

    /** Kills the server and deletes its data; the data of a cluster node is deleted with the cluster. Idempotent. */
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
