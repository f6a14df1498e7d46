// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.servers.process.TestCertificate;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Redis server, which can be paused and killed, on a free port of 127.0.0.1 with its data in a temporary directory. It
 * ends with this JVM, however that ends. Thread-safe.
 *
 * <p>Its program is {@code redis-server} on the PATH, or the one that system property {@code mortise.test.redis.binary} or
 * environment variable {@code MORTISE_TEST_REDIS_BINARY} names, such as {@code valkey-server} or a path.
 */
public final class RedisTestServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RedisTestServer.class);
    private static final String READY = "Ready to accept connections";
    private static final String HOST = "127.0.0.1";

    private final RedisServerOptions options;
    private final TempDir dir;
    private final int port;
    private final int tlsPort;
    private final @Nullable FaketimeClock clock;
    private final ServerNode node;

    private RedisTestServer(RedisServerOptions options, int port, int tlsPort) {
        this.options = options;
        this.port = port;
        this.tlsPort = tlsPort;
        this.dir = TempDir.create("redis");
        this.clock = options.ownClock() ? new FaketimeClock(dir.path()) : null;
        try {
            this.node = new ServerNode("redis-" + port, dir.path(), command(), ServerNode.saying(READY));
        } catch (RuntimeException e) {
            dir.close();
            throw e;
        }
        log.info("event=redis-started port={} pid={} dir={}", port, node.pid(), dir.path());
    }

    /** Whether a server can have a clock of its own here: it takes Linux, and libfaketime (Debian: package {@code faketime}). */
    public static boolean canSetClock() {
        return FaketimeClock.isAvailable();
    }

    /** Starts a server with {@link RedisServerOptions#defaults()}; it serves when this returns. */
    public static RedisTestServer start() {
        return start(RedisServerOptions.defaults());
    }

    /**
     * Starts a server; it serves when this returns.
     *
     * @throws IllegalStateException if there is no such program on this machine, or it refuses the options; it says which
     */
    public static RedisTestServer start(RedisServerOptions options) {
        return ServerNode.onFreePorts(2, ports -> new RedisTestServer(options, ports.get(0), ports.get(1)));
    }

    /** The port without TLS; the same after a restart. */
    public int port() {
        return port;
    }

    /** {@code redis://127.0.0.1:port}, with the password if it has one; the same after a restart. */
    public String url() {
        return url("redis", port);
    }

    /** {@code rediss://127.0.0.1:port}, with the password if it has one; only with {@link RedisServerOptions#tls()}. */
    public String tlsUrl() {
        require(options.tls(), "TLS");
        return url("rediss", tlsPort);
    }

    /** Its self-signed certificate as a PEM file, for a client to trust; only with {@link RedisServerOptions#tls()}. */
    public Path certificate() {
        require(options.tls(), "TLS");
        return TestCertificate.certificate(dir.path());
    }

    /** Its Unix socket; only with {@link RedisServerOptions#unixSocket()}. */
    public Path unixSocket() {
        require(options.unixSocket(), "a Unix socket");
        return dir.path().resolve("redis.sock");
    }

    /** Bare commands over a new connection of the default user. */
    public RawRedis connect() {
        return RawRedis.connect(port, auth().toArray(String[]::new));
    }

    /** As {@link RawRedis#ask}. */
    Optional<Object> ask(String... command) {
        return RawRedis.ask(port, auth(), command);
    }

    /** What {@code AUTH} takes from the default user; nothing without a password. */
    List<String> auth() {
        return options.password().stream().toList();
    }

    /** The process id of the server's present life. */
    public long pid() {
        return node.pid();
    }

    /** Whether its process exists; a paused one does. */
    public boolean isAlive() {
        return node.isAlive();
    }

    /** The last lines of its log. */
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

    /**
     * Sets the server's wall clock, in effect when this returns; only with {@link RedisServerOptions#ownClock()}.
     *
     * @param ahead of the right time; negative: behind it
     */
    public void setClock(Duration ahead) {
        if (clock == null) {
            throw new IllegalStateException("The server was started without a clock of its own");
        }
        clock.set(ahead);
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
     * Kills the server if it runs, and starts it again on the same port; it serves when this returns. It has its data again
     * with {@link RedisServerOptions#keepsData()}, else none.
     */
    public void restart() {
        node.restart();
    }

    /** Kills the server and deletes its data; idempotent. */
    @Override
    public void close() {
        try (dir) {
            node.close();
        }
    }

    private List<String> command() {
        String portText = Integer.toString(port);
        List<String> command = new ArrayList<>(List.of(ServerBinary.redis().toString()));
        command.addAll(
                List.of("--port", portText, "--bind", HOST, "--dir", dir.path().toString(), "--save", ""));
        command.addAll(
                options.keepsData()
                        ? List.of("--appendonly", "yes", "--appendfsync", "always")
                        : List.of("--appendonly", "no"));
        // A master would wait five seconds for more replicas to come.
        command.addAll(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
        // Its own, and what it gives its master if it is a replica one day.
        options.password()
                .ifPresent(secret -> command.addAll(List.of("--requirepass", secret, "--masterauth", secret)));
        if (options.unixSocket()) {
            command.addAll(List.of("--unixsocket", unixSocket().toString()));
        }
        if (options.tls()) {
            command.addAll(tlsArguments());
        }
        command.addAll(options.arguments());
        return clock == null ? command : clock.wrap(command);
    }

    private List<String> tlsArguments() {
        TestCertificate.create(dir.path());
        String certificate = TestCertificate.certificate(dir.path()).toString();
        String key = TestCertificate.key(dir.path()).toString();
        List<String> arguments = new ArrayList<>(List.of("--tls-port", Integer.toString(tlsPort)));
        arguments.addAll(List.of("--tls-cert-file", certificate, "--tls-key-file", key));
        // It asks its clients for no certificate, and yet wants to know whom it would trust.
        arguments.addAll(List.of("--tls-auth-clients", "no", "--tls-ca-cert-file", certificate));
        return arguments;
    }

    private String url(String scheme, int onPort) {
        @Nullable String user = options.password().map(secret -> ":" + secret).orElse(null);
        try {
            return new URI(scheme, user, HOST, onPort, null, null, null).toString();
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
