// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One sentinel: its configuration, which it rewrites itself, and its process. Thread-safe. */
final class RedisSentinelNode implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RedisSentinelNode.class);
    private static final String READY = "+monitor master";

    /**
     * How often it asks, in milliseconds: its own periods are made for wide networks. Not faster, as it takes a replica of whom
     * it has not heard for a few of these periods for a bad choice, and the next failover comes only seconds later. And after a
     * leap of the clock, or what looks like one on a busy machine, it is not to do nothing for half a minute.
     */
    private static final String[] PERIODS = {
        "SENTINEL",
        "DEBUG",
        "info-period",
        "1000",
        "ping-period",
        "500",
        "ask-period",
        "100",
        "publish-period",
        "500",
        "election-timeout",
        "2000",
        "tilt-period",
        "1000"
    };

    private final String masterName;
    private final int port;
    private final ServerNode node;

    private RedisSentinelNode(Path root, int port, String masterName, List<String> settings) {
        this.masterName = masterName;
        this.port = port;
        try {
            Path dir = Files.createDirectories(root.resolve("sentinel-" + port));
            Path config = dir.resolve("sentinel.conf");
            String own = "port " + port + "\nbind 127.0.0.1\ndir \"" + dir + "\"\nsentinel announce-ip 127.0.0.1\n";
            Files.writeString(config, own + String.join("\n", settings) + "\n");
            List<String> command = List.of(ServerBinary.redis().toString(), config.toString(), "--sentinel");
            this.node = new ServerNode("sentinel-" + port, root, command, ServerNode.saying(READY));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        hurry();
    }

    /**
     * Starts a sentinel.
     *
     * @param settings lines of its configuration about the master
     */
    static RedisSentinelNode start(Path root, String masterName, List<String> settings) {
        return ServerNode.onFreePorts(1, ports -> new RedisSentinelNode(root, ports.get(0), masterName, settings));
    }

    private void hurry() {
        if (ask(PERIODS).isEmpty()) {
            log.info("event=sentinel-has-its-own-periods port={}", port); // before Redis 7.0: slower, no less right
        }
    }

    int port() {
        return port;
    }

    boolean isAlive() {
        return node.isAlive();
    }

    /** The port of the master as it knows it; empty while it does not answer. */
    OptionalInt masterPort() {
        return ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
                .map(address -> OptionalInt.of(Integer.parseInt(String.valueOf(((List<?>) address).get(1)))))
                .orElse(OptionalInt.empty());
    }

    /** What it knows of the master, as {@code SENTINEL MASTER} says it; empty while it does not answer. */
    Map<String, String> master() {
        Map<String, String> fields = new HashMap<>();
        List<?> flat =
                ask("SENTINEL", "MASTER", masterName).map(List.class::cast).orElse(List.of());
        for (int i = 0; i + 1 < flat.size(); i += 2) {
            fields.put(String.valueOf(flat.get(i)), String.valueOf(flat.get(i + 1)));
        }
        return fields;
    }

    /** Whether it could start a failover, and have it authorized. */
    boolean hasQuorum() {
        return ask("SENTINEL", "CKQUORUM", masterName).isPresent();
    }

    void kill() {
        node.kill();
    }

    void restart() {
        node.restart();
        hurry();
    }

    private Optional<Object> ask(String... command) {
        return RawRedis.ask(port, List.of(), command);
    }

    @Override
    public void close() {
        node.close();
    }
}
