// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerContainer;
import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.ServerProcess;
import io.mortise.lock.servers.process.ServerSource;
import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.servers.process.TestCertificateGenerator;
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
 * A real Redis server for tests, which can be paused and killed. It uses free ports of 127.0.0.1 and a temporary
 * directory for its data, and ends with this JVM, even if the JVM is killed. Thread-safe.
 *
 * <p>The program is {@code redis-server} on the PATH, or the one given by the system property {@code mortise.test.redis.binary}
 * or the environment variable {@code MORTISE_TEST_REDIS_BINARY}, such as {@code valkey-server} or a path. Without a program the
 * server runs in a container, see {@link ServerSource#redis()}: there it has no {@link #pid()}.
 */
public final class RedisTestServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RedisTestServer.class);
    private static final String READY = "Ready to accept connections";
    private static final String HOST = "127.0.0.1";

    private final RedisServerOptions options;
    private final ServerSource source;
    private final TempDir dir;
    private final int port;
    private final int tlsPort;
    private final @Nullable FaketimeClock clock;
    private final ServerNode node;

    private RedisTestServer(RedisServerOptions options, ServerSource source, int port, int tlsPort) {
        this.options = options;
        this.source = source;
        this.port = port;
        this.tlsPort = tlsPort;
        this.dir = TempDir.create("redis");
        this.clock = options.ownClock() ? new FaketimeClock(dir.path()) : null;
        try {
            this.node = startNode();
        } catch (RuntimeException e) {
            dir.close();
            throw e;
        }
        log.info("event=redis-started port={} {} dir={}", port, node, dir.path());
    }

    private ServerNode startNode() {
        if (source instanceof ServerSource.Image image) {
            List<Integer> ports = options.tls() ? List.of(port, tlsPort) : List.of(port);
            return new ServerContainer(
                    image,
                    dir.path(),
                    command(),
                    ports,
                    options.keepsData(),
                    () -> tryCall("PING").isPresent());
        }
        return new ServerProcess("redis-" + port, dir.path(), command(), ServerProcess.saying(READY));
    }

    /** Returns whether servers can have their own clock here, which needs Linux and libfaketime (Debian: {@code faketime}). */
    public static boolean canSetClock() {
        return FaketimeClock.isAvailable();
    }

    /** Starts a server with {@link RedisServerOptions#defaults()}; returns when it serves. */
    public static RedisTestServer start() {
        return start(RedisServerOptions.defaults());
    }

    /**
     * Starts a server; returns when it serves.
     *
     * @throws IllegalStateException if there is neither the program nor a container engine on this machine, or if the server
     *     rejects the options; the message says which
     */
    public static RedisTestServer start(RedisServerOptions options) {
        ServerSource source =
                options.needsProgram() ? new ServerSource.Program(ServerBinary.redis()) : ServerSource.redis();
        return ServerNode.onFreePorts(2, ports -> new RedisTestServer(options, source, ports.get(0), ports.get(1)));
    }

    /** Returns the port without TLS; a restart does not change it. */
    public int port() {
        return port;
    }

    /** Returns the URL {@code redis://127.0.0.1:port}, with the password if there is one; the same after a restart. */
    public String url() {
        return url("redis", port);
    }

    /**
     * Returns the URL {@code rediss://127.0.0.1:port} for TLS; only with {@link RedisServerOptions#tls()}. See {@link #url()}.
     */
    public String tlsUrl() {
        require(options.tls(), "TLS");
        return url("rediss", tlsPort);
    }

    /** Returns the server's self-signed certificate as a PEM file; only with {@link RedisServerOptions#tls()}. */
    public Path certificate() {
        require(options.tls(), "TLS");
        return TestCertificateGenerator.certificate(dir.path());
    }

    /** Returns the path of the Unix socket; only with {@link RedisServerOptions#unixSocket()}. */
    public Path unixSocket() {
        require(options.unixSocket(), "a Unix socket");
        return dir.path().resolve("redis.sock");
    }

    /** Opens a new connection for raw commands as the default user. */
    public RawRedis connect() {
        return RawRedis.connect(port, auth().toArray(String[]::new));
    }

    /** Does the same as {@link RawRedis#tryCall} for this server. */
    Optional<Object> tryCall(String... command) {
        return RawRedis.tryCall(port, auth(), command);
    }

    /** Returns the arguments of {@code AUTH} for the default user; none without a password. */
    List<String> auth() {
        return options.password().stream().toList();
    }

    /** Returns the process id since the last start; throws an {@link UnsupportedOperationException} in a container. */
    public long pid() {
        return node.pid();
    }

    /** Returns whether the process exists, paused or not. */
    public boolean isAlive() {
        return node.isAlive();
    }

    /** Returns the last lines of the log. */
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

    /**
     * Sets the server's wall clock, in effect when this returns; only with {@link RedisServerOptions#ownClock()}.
     *
     * @param ahead how far ahead of the right time; behind it if negative
     */
    public void setClock(Duration ahead) {
        if (clock == null) {
            throw new IllegalStateException("The server was started without a clock of its own");
        }
        clock.set(ahead);
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
     * Kills the server if it runs, and starts it again on the same port; returns when it serves. It keeps its data only with
     * {@link RedisServerOptions#keepsData()}.
     */
    public void restart() {
        node.restart();
    }

    /** Kills the server and deletes its data. Idempotent. */
    @Override
    public void close() {
        try (dir) {
            node.close();
        }
    }

    private List<String> command() {
        String portText = Integer.toString(port);
        List<String> command = new ArrayList<>();
        command.add(
                source instanceof ServerSource.Program program ? program.path().toString() : "redis-server");
        command.addAll(List.of("--port", portText, "--bind", source.listenAddress()));
        // Redis would reject connections from outside of the container. Its port is published on 127.0.0.1 only.
        command.addAll(List.of("--protected-mode", source instanceof ServerSource.Program ? "yes" : "no"));
        command.addAll(List.of("--dir", directory().toString(), "--save", ""));
        command.addAll(
                options.keepsData()
                        ? List.of("--appendonly", "yes", "--appendfsync", "always")
                        : List.of("--appendonly", "no"));
        // By default, a master waits five seconds for more replicas before it synchronizes the first one.
        command.addAll(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
        // The password for clients, and for the connection to a master if the server becomes a replica.
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

    private Path directory() {
        return source.directory(dir.path());
    }

    private List<String> tlsArguments() {
        TestCertificateGenerator.create(dir.path());
        String certificate = TestCertificateGenerator.certificate(directory()).toString();
        String key = TestCertificateGenerator.key(directory()).toString();
        List<String> arguments = new ArrayList<>(List.of("--tls-port", Integer.toString(tlsPort)));
        arguments.addAll(List.of("--tls-cert-file", certificate, "--tls-key-file", key));
        // Redis requires a CA certificate even if clients need no certificate.
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
