package ${package};

import io.mortise.lock.testkit.process.GuardedProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.h2.tools.Server;

/** An H2 server in a process of its own, with its data in a directory below {@code target}. */
final class H2Server implements AutoCloseable {
    private final Path data;
    private final int port;
    private GuardedProcess process;

    private H2Server(Path data, int port) {
        this.data = data;
        this.port = port;
    }

    static H2Server create() {
        try {
            Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
            H2Server server = new H2Server(Files.createTempDirectory(target, "h2"), freePort());
            server.start();
            return server;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    String address() {
        return "localhost:" + port;
    }

    void start() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        process = GuardedProcess.start(
                "h2",
                data,
                List.of(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        jar(),
                        Server.class.getName(),
                        "-tcp",
                        "-tcpPort",
                        "" + port,
                        "-ifNotExists",
                        "-baseDir",
                        data.toString()));
        process.awaitLine(line -> line.contains("TCP server running"), Duration.ofSeconds(20));
    }

    /** Ends the server as an operator does; it keeps its data. */
    void stop() {
        process.terminate();
        process.close();
    }

    /** Ends the server as a crash does; it keeps what it has written to its files. */
    void kill() {
        process.close();
    }

    private static String jar() {
        try {
            return Path.of(Server.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
