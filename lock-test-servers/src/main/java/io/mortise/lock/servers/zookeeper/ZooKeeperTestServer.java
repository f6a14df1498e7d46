// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real ZooKeeper server in this JVM, on a free port of 127.0.0.1 with its data in a temporary directory. It can expire a
 * session for real, restart with its data, and count what clients send. Use {@link ZooKeeperTestProcess} where a test must
 * pause or kill the server. Thread-safe.
 */
public final class ZooKeeperTestServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperTestServer.class);
    private static final Duration EXPIRY_LIMIT = Duration.ofSeconds(10);

    private final ZooKeeperServerOptions options;
    private final TempDir dir = TempDir.create("zookeeper");
    private final ConcurrentMap<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final int port;
    private @Nullable RunningZooKeeper running;

    private ZooKeeperTestServer(ZooKeeperServerOptions options) {
        this.options = options;
        try {
            RunningZooKeeper first = launch(0);
            this.running = first;
            this.port = first.port();
        } catch (RuntimeException e) {
            dir.close();
            throw e;
        }
    }

    /** Starts a server with {@link ZooKeeperServerOptions#defaults()}; it serves when this returns. */
    public static ZooKeeperTestServer start() {
        return start(ZooKeeperServerOptions.defaults());
    }

    /** Starts a server; it serves when this returns. */
    public static ZooKeeperTestServer start(ZooKeeperServerOptions options) {
        return new ZooKeeperTestServer(options);
    }

    /** {@code 127.0.0.1:port}; the same after a restart. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    /** Where its files are until it is closed. */
    Path data() {
        return dir.path();
    }

    /** The client port; the same after a restart. */
    public int port() {
        return port;
    }

    /**
     * Ends a session as if its timeout had passed: its ephemeral nodes are deleted when this returns, and its client learns it
     * when it talks to the server next. Safe to call for a session that has ended already.
     *
     * @param sessionId from {@code ZooKeeper.getSessionId()}
     */
    public void expireSession(long sessionId) {
        ZooKeeperServer server = server();
        ZKDatabase data = server.getZKDatabase();
        Set<String> ephemerals = data.getEphemerals(sessionId);
        server.closeSession(sessionId);
        // The server forgets a session first and deletes its nodes one by one after that.
        Await.until(
                "session 0x" + Long.toHexString(sessionId) + " has ended",
                EXPIRY_LIMIT,
                () -> !data.getSessionWithTimeOuts().containsKey(sessionId)
                        && ephemerals.stream().allMatch(path -> data.getNode(path) == null));
    }

    /** Stops serving; clients are disconnected. Data, sessions and ephemerals are kept for {@link #restart()}. */
    public synchronized void stop() {
        RunningZooKeeper ending = running;
        running = null;
        if (ending != null) {
            try {
                ending.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Stops the server if it runs, and starts it again on the same port with its data; it serves when this returns.
     * Sessions get a whole timeout to come back, as at any start of a ZooKeeper server.
     */
    public synchronized void restart() {
        stop();
        running = launch(port);
    }

    /**
     * How many requests clients have sent, by kind, since the server was first started: {@code create2},
     * {@code getChildren2}, {@code getData}, {@code delete}, {@code sync}, {@code ping}, {@code closeSession} and so on, as
     * ZooKeeper names them. A {@code multi} counts once, as
     * {@code check} where it only checks. The connect request of a session is not counted.
     *
     * @return a sorted copy
     */
    public Map<String, Long> requests() {
        Map<String, Long> counts = new TreeMap<>();
        requests.forEach((name, count) -> counts.put(name, count.sum()));
        return counts;
    }

    /** How many requests clients have sent since the server was first started, pings left out. */
    public long packetsReceived() {
        return requests().entrySet().stream()
                .filter(entry -> !entry.getKey().equals("ping"))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** From now on no session has a longer timeout, those included that reconnect: what a change of settings does. */
    public void shortenSessions(Duration longest) {
        server().setMaxSessionTimeout(Math.toIntExact(longest.toMillis()));
    }

    /** The paths of all ephemeral nodes, sorted; empty when nothing is left behind. */
    public Set<String> liveEphemerals() {
        Set<String> paths = new TreeSet<>();
        server().getZKDatabase().getEphemerals().values().forEach(paths::addAll);
        return paths;
    }

    /** How many watches the server keeps for its clients. */
    public int watchCount() {
        return server().getZKDatabase().getDataTree().getWatchCount();
    }

    /** The ids of all sessions, also of those whose client is disconnected at the moment. */
    public Set<Long> sessions() {
        return new TreeSet<>(server().getZKDatabase().getSessionWithTimeOuts().keySet());
    }

    /** Stops the server and deletes its data; idempotent. */
    @Override
    public void close() {
        try (dir) {
            stop();
        }
    }

    private synchronized ZooKeeperServer server() {
        if (running == null) {
            throw new IllegalStateException("The server is stopped");
        }
        return running.server();
    }

    private RunningZooKeeper launch(int onPort) {
        try {
            RunningZooKeeper launched = RunningZooKeeper.start(dir.path(), onPort, options, requests);
            log.info("event=zookeeper-started port={} dir={}", launched.port(), dir.path());
            return launched;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
