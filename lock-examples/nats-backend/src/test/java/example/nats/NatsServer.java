// SPDX-License-Identifier: Apache-2.0
package example.nats;

import io.mortise.lock.testkit.process.GuardedProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The program {@code nats-server}, with its data in a directory below {@code target}. */
final class NatsServer implements AutoCloseable {
    private final Path data;
    private final int port;
    private GuardedProcess process;

    private NatsServer(Path data, int port) {
        this.data = data;
        this.port = port;
    }

    static NatsServer create() {
        try {
            Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
            NatsServer server = new NatsServer(Files.createTempDirectory(target, "nats"), freePort());
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
        process = GuardedProcess.start(
                "nats-server",
                data,
                List.of(
                        "nats-server",
                        "-l",
                        "/dev/stdout",
                        "-js",
                        "-a",
                        "127.0.0.1",
                        "-p",
                        "" + port,
                        "-sd",
                        data.toString()));
        process.awaitLine(line -> line.contains("Server is ready"), Duration.ofSeconds(20));
    }

    /** Ends the server as an operator does; it keeps its data. */
    void stop() {
        process.terminate();
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
