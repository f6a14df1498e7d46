// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import io.mortise.lock.servers.process.ServerBinary;
import io.mortise.lock.servers.process.ServerNode;
import io.mortise.lock.servers.process.ServerProcess;
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

/** One sentinel process with its configuration file, which the process rewrites itself. Thread-safe. */
final class RedisSentinelNode implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RedisSentinelNode.class);
    private static final String READY = "+monitor master";

    /**
     * Intervals between the sentinel's requests, in milliseconds, which are shorter than the defaults for wide-area networks.
     * They are not even shorter, because a sentinel does not promote a replica that has been silent for a few intervals, and
     * the next failover would follow only seconds later. The tilt period is short so that the sentinel does not pause for half
     * a minute after a jump of the clock, or after a delay on a busy machine that looks like one.
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
            this.node = new ServerProcess("sentinel-" + port, root, command, ServerProcess.saying(READY));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        shortenPeriods();
    }

    /**
     * Starts a sentinel.
     *
     * @param settings configuration lines about the master
     */
    static RedisSentinelNode start(Path root, String masterName, List<String> settings) {
        return ServerNode.onFreePorts(1, ports -> new RedisSentinelNode(root, ports.get(0), masterName, settings));
    }

    private void shortenPeriods() {
        if (tryCall(PERIODS).isEmpty()) {
            log.info(
                    "event=sentinel-has-its-own-periods port={}",
                    port); // Redis before 7.0: slower, but equally correct
        }
    }

    int port() {
        return port;
    }

    boolean isAlive() {
        return node.isAlive();
    }

    /** Returns the port of the master that the sentinel knows; empty while the sentinel does not reply. */
    OptionalInt masterPort() {
        return tryCall("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
                .map(address -> OptionalInt.of(Integer.parseInt(String.valueOf(((List<?>) address).get(1)))))
                .orElse(OptionalInt.empty());
    }

    /** Returns the fields of {@code SENTINEL MASTER}; empty while the sentinel does not reply. */
    Map<String, String> master() {
        Map<String, String> fields = new HashMap<>();
        List<?> flat =
                tryCall("SENTINEL", "MASTER", masterName).map(List.class::cast).orElse(List.of());
        for (int i = 0; i + 1 < flat.size(); i += 2) {
            fields.put(String.valueOf(flat.get(i)), String.valueOf(flat.get(i + 1)));
        }
        return fields;
    }

    /** Returns whether the sentinel reaches the quorum and the majority that a failover needs. */
    boolean hasQuorum() {
        return tryCall("SENTINEL", "CKQUORUM", masterName).isPresent();
    }

    void kill() {
        node.kill();
    }

    void restart() {
        node.restart();
        shortenPeriods();
    }

    private Optional<Object> tryCall(String... command) {
        return RawRedis.tryCall(port, List.of(), command);
    }

    @Override
    public void close() {
        node.close();
    }
}
