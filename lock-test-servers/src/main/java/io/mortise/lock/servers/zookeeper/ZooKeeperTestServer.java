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
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real ZooKeeper server for tests, which runs in this JVM, can be restarted, can expire sessions, and counts requests. It
 * uses a free port of 127.0.0.1 and a temporary directory for its data. Use {@link ZooKeeperTestProcess} if a test must pause
 * or kill the server. Thread-safe.
 */
public final class ZooKeeperTestServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperTestServer.class);
    private static final Duration EXPIRY_LIMIT = Duration.ofSeconds(10);

    private final ZooKeeperServerOptions options;
    private final TempDir dir = TempDir.create("zookeeper");
    private final ConcurrentMap<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final int port;
    private @Nullable EmbeddedZooKeeper running;

    private ZooKeeperTestServer(ZooKeeperServerOptions options) {
        this.options = options;
        try {
            EmbeddedZooKeeper first = launch(0);
            this.running = first;
            this.port = first.port();
        } catch (RuntimeException e) {
            dir.close();
            throw e;
        }
    }

    /** Starts a server with {@link ZooKeeperServerOptions#defaults()}; returns when it serves. */
    public static ZooKeeperTestServer start() {
        return start(ZooKeeperServerOptions.defaults());
    }

    /** Starts a server; returns when it serves. */
    public static ZooKeeperTestServer start(ZooKeeperServerOptions options) {
        return new ZooKeeperTestServer(options);
    }

    /** Returns the address {@code 127.0.0.1:port}; a restart does not change it. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    /** Returns the data directory, which exists until the server is closed. */
    Path data() {
        return dir.path();
    }

    /** Returns the port for clients; a restart does not change it. */
    public int port() {
        return port;
    }

    /**
     * Expires a session as if its timeout had passed. When this returns, its ephemeral nodes are deleted; its client learns of
     * the expiry with the next message to the server. Does nothing if the session has already ended.
     *
     * @param sessionId id of the session, from {@code ZooKeeper.getSessionId()}
     */
    public void expireSession(long sessionId) {
        ZooKeeperServer server = server();
        ZKDatabase data = server.getZKDatabase();
        Set<String> ephemerals = data.getEphemerals(sessionId);
        server.closeSession(sessionId);
        // The server removes the session first, and then deletes its nodes one by one.
        Await.until(
                "session 0x" + Long.toHexString(sessionId) + " has ended",
                EXPIRY_LIMIT,
                () -> !data.getSessionWithTimeOuts().containsKey(sessionId)
                        && ephemerals.stream().allMatch(path -> data.getNode(path) == null));
    }

    /** Stops the server and disconnects its clients; data, sessions and ephemeral nodes are kept for {@link #restart()}. */
    public synchronized void stop() {
        EmbeddedZooKeeper ending = running;
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
     * Stops the server if it runs, and starts it again on the same port with its data; returns when it serves. Clients have a
     * full session timeout to reconnect, as after any start of a ZooKeeper server.
     */
    public synchronized void restart() {
        stop();
        running = launch(port);
    }

    /**
     * Returns the number of requests that clients have sent since the server was first started, by kind: {@code create2},
     * {@code getChildren2}, {@code getData}, {@code delete}, {@code sync}, {@code ping}, {@code closeSession} and so on, as
     * ZooKeeper names them. A {@code multi} counts once, and counts as {@code check} if it only checks. The connect request of
     * a session does not count.
     *
     * @return a sorted copy
     */
    public Map<String, Long> requests() {
        Map<String, Long> counts = new TreeMap<>();
        requests.forEach((name, count) -> counts.put(name, count.sum()));
        return counts;
    }

    /** Returns the number of requests that clients have sent since the server was first started, without pings. */
    public long requestsWithoutPings() {
        return requests().entrySet().stream()
                .filter(entry -> !entry.getKey().equals("ping"))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /**
     * Limits the timeout of new and reconnecting sessions, as a changed server setting would.
     *
     * @param longest maximum session timeout
     */
    public void limitSessionTimeout(Duration longest) {
        server().setMaxSessionTimeout(Math.toIntExact(longest.toMillis()));
    }

    /**
     * Sets the sequence number of the next sequential node below a node, as if all smaller ones had been assigned.
     *
     * @param node path of an existing node
     * @param number above all that were assigned
     */
    public void setNextSequenceNumber(String node, int number) {
        DataTree tree = server().getZKDatabase().getDataTree();
        try {
            tree.setCversionPzxid(node, number, tree.lastProcessedZxid);
        } catch (KeeperException.NoNodeException e) {
            throw new IllegalArgumentException("no node " + node, e);
        }
    }

    /** Returns the paths of all existing ephemeral nodes, sorted. */
    public Set<String> liveEphemerals() {
        Set<String> paths = new TreeSet<>();
        server().getZKDatabase().getEphemerals().values().forEach(paths::addAll);
        return paths;
    }

    /** Returns the number of watches that the server keeps for its clients. */
    public int watchCount() {
        return server().getZKDatabase().getDataTree().getWatchCount();
    }

    /** Returns the ids of all sessions, including those whose client is disconnected at the moment. */
    public Set<Long> sessions() {
        return new TreeSet<>(server().getZKDatabase().getSessionWithTimeOuts().keySet());
    }

    /** Stops the server and deletes its data. Idempotent. */
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

    private EmbeddedZooKeeper launch(int onPort) {
        try {
            EmbeddedZooKeeper launched = EmbeddedZooKeeper.start(dir.path(), onPort, options, requests);
            log.info("event=zookeeper-started port={} dir={}", launched.port(), dir.path());
            return launched;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
