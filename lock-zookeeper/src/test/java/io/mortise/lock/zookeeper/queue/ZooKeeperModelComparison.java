// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.zookeeper.ZooKeeperServerModel;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CloseSession;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Create;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CreateInContainer;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Delete;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Outcome;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Compares the model of ZooKeeper with a real server: random requests of two sessions, with their watches, events and ends. Each
 * sequence has a base node of its own.
 */
final class ZooKeeperModelComparison {
    private static final int STEPS = 40;
    private static final String LOCK = "/a";

    private final List<String> modelEvents = new ArrayList<>();
    private final List<String> realEvents = Collections.synchronizedList(new ArrayList<>());
    private final List<RealClient> clients = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();
    private final ZooKeeperTestServer server;
    private ZooKeeperServerModel model = new ZooKeeperServerModel(ZooKeeperTree.empty(0));
    private volatile String base = ""; // of the sequence; nodes of those before are still deleted with their sessions

    ZooKeeperModelComparison(ZooKeeperTestServer server) {
        this.server = server;
    }

    /** Compares sequences, which are made from the numbers. */
    void compare(IntStream seeds) throws Exception {
        for (int i = 0; i < 2; i++) {
            clients.add(open(i));
        }
        for (int seed : seeds.toArray()) {
            base = "/m" + seed;
            clients.get(0).handle.create(base, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            model = new ZooKeeperServerModel(ZooKeeperTree.empty(0));
            trace.clear();
            Random random = new Random(seed);
            for (int step = 0; step < STEPS; step++) {
                step(random);
            }
        }
        for (RealClient client : clients) {
            client.close();
        }
    }

    private RealClient open(int number) throws Exception {
        return new RealClient(number, ZooKeeperTestSupport.openHandle(server.connectString()));
    }

    /** A session, and the watcher that records its events until it is closed. */
    private final class RealClient implements Watcher {
        private final int number;
        private final ZooKeeper handle;
        private volatile boolean closed;

        RealClient(int number, ZooKeeper handle) {
            this.number = number;
            this.handle = handle;
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() == EventType.NodeDeleted
                    && !closed
                    && event.getPath().startsWith(base + "/")) {
                realEvents.add(number + " " + event.getPath().substring(base.length()));
            }
        }

        /** Closes the session. Whether it hears of the deletion of its own nodes does not matter. */
        void close() throws InterruptedException {
            closed = true;
            handle.close();
        }
    }

    private void step(Random random) throws Exception {
        int client = random.nextInt(2);
        ZooKeeper handle = clients.get(client).handle;
        String node = node(random);
        modelEvents.clear();
        realEvents.clear();
        String expected;
        String actual;
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> {
                expected = write(new Create(LOCK + "/n-lock-", handle.getSessionId()));
                actual = result(() -> {
                    Stat stat = new Stat();
                    String path = handle.create(
                            base + LOCK + "/n-lock-",
                            new byte[0],
                            Ids.OPEN_ACL_UNSAFE,
                            CreateMode.EPHEMERAL_SEQUENTIAL,
                            stat);
                    return path.substring(base.length());
                });
            }
            case 3, 4 -> {
                expected = write(new CreateInContainer(LOCK, "n-lock-", handle.getSessionId()));
                actual = result(() -> {
                    List<OpResult> results = handle.multi(List.of(
                            Op.create(base + LOCK, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER),
                            Op.create(
                                    base + LOCK + "/n-lock-",
                                    new byte[0],
                                    Ids.OPEN_ACL_UNSAFE,
                                    CreateMode.EPHEMERAL_SEQUENTIAL)));
                    return ((OpResult.CreateResult) results.get(1)).getPath().substring(base.length());
                });
            }
            case 5, 6, 7 -> {
                String path = random.nextInt(4) == 0 ? LOCK : node;
                expected = write(new Delete(path));
                actual = result(() -> {
                    handle.delete(base + path, -1);
                    return "";
                });
            }
            case 8, 9 -> {
                ZooKeeperTree.Znode watched = model.watch(client, node);
                expected = watched == null ? "NONODE" : "OK " + watched.owner();
                actual = result(() -> {
                    Stat stat = new Stat();
                    handle.getData(base + node, clients.get(client), stat);
                    return String.valueOf(stat.getEphemeralOwner());
                });
            }
            case 10 -> {
                boolean known = model.watches().containsKey(node)
                        && model.watches().get(node).contains(client);
                model.unwatch(client, node);
                expected = known ? "OK " : "NOWATCHER";
                actual = result(() -> {
                    handle.removeAllWatches(base + node, WatcherType.Data, false);
                    return "";
                });
            }
            default -> {
                model.disconnect(client);
                expected = write(new CloseSession(handle.getSessionId(), false));
                actual = result(() -> {
                    clients.get(client).close();
                    return "";
                });
                clients.set(client, open(client));
            }
        }
        trace.add(client + ": " + expected);
        assertThat(actual).as("%s", trace).isEqualTo(expected);
        CompletableFuture<Void> drained = drained(clients.get(1 - client).handle);
        compareNodes(clients.get(client).handle); // after the events that this client has been sent
        drained.get(30, TimeUnit.SECONDS);
        assertThat(realEvents).as("events after %s", trace).containsExactlyInAnyOrderElementsOf(modelEvents);
    }

    private String write(Write write) {
        Outcome outcome = model.apply(write, (client, path) -> modelEvents.add(client + " " + path));
        return outcome.code() == ZooKeeperTree.Code.OK
                ? "OK " + outcome.path()
                : outcome.code().name();
    }

    private interface Call {
        String run() throws Exception;
    }

    private static String result(Call call) throws Exception {
        try {
            return "OK " + call.run();
        } catch (KeeperException e) {
            return e.code().name();
        }
    }

    /** Returns the path of a node that exists, or of one that does not. */
    private String node(Random random) {
        List<String> children = model.tree().children(LOCK).orElse(List.of());
        return LOCK + "/"
                + (children.isEmpty() || random.nextInt(6) == 0
                        ? "n-lock-0000000099"
                        : children.get(random.nextInt(children.size())));
    }

    /** Completes when all events that the server has sent before have been handled. */
    private static CompletableFuture<Void> drained(ZooKeeper handle) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        handle.exists("/", false, (rc, path, context, stat) -> answered.complete(null), null);
        return answered;
    }

    /** Compares names, owners and the order of creation. The requests are sent at once. */
    private void compareNodes(ZooKeeper handle) throws Exception {
        Optional<List<String>> expected = model.tree().children(LOCK);
        CompletableFuture<Optional<List<String>>> listed = new CompletableFuture<>();
        handle.getChildren(
                base + LOCK,
                false,
                (int rc, String path, Object context, List<String> children) -> listed.complete(
                        rc == Code.NONODE.intValue()
                                ? Optional.empty()
                                : Optional.of(children.stream().sorted().toList())),
                null);
        List<CompletableFuture<Stat>> stats = new ArrayList<>();
        for (String child : expected.orElse(List.of())) {
            CompletableFuture<Stat> read = new CompletableFuture<>();
            handle.exists(base + LOCK + "/" + child, false, (rc, path, context, stat) -> read.complete(stat), null);
            stats.add(read);
        }
        assertThat(listed.get(30, TimeUnit.SECONDS))
                .as("%s", trace)
                .isEqualTo(expected.map(names -> names.stream().sorted().toList()));
        long before = 0;
        for (int i = 0; i < stats.size(); i++) {
            Stat stat = stats.get(i).get(30, TimeUnit.SECONDS);
            String path = LOCK + "/" + expected.orElseThrow().get(i);
            assertThat(stat.getEphemeralOwner())
                    .isEqualTo(Objects.requireNonNull(model.tree().nodes().get(path))
                            .owner());
            assertThat(stat.getCzxid())
                    .as("the tokens rise in the order of the queue")
                    .isGreaterThan(before);
            before = stat.getCzxid();
        }
    }
}
