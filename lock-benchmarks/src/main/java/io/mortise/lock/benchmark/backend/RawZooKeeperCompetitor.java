// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * Benchmark competitor that locks with an ephemeral sequential node through plain ZooKeeper calls. It does not handle failures.
 */
final class RawZooKeeperCompetitor implements Competitor {
    private static final String BASE = "/raw";

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public String description() {
        return "hand-written calls: pipelined create and list, watch on the preceding node, delete";
    }

    @Override
    public CompetitorSession open(String endpoint) throws Exception {
        return new Client(ZooKeeperTestBed.connect(endpoint));
    }

    private record Node(String path, long czxid) {}

    private record Client(ZooKeeper handle) implements CompetitorSession {
        @Override
        public HeldGrant acquire(String lock) throws Exception {
            String queue = BASE + "/" + lock;
            while (true) {
                CompletableFuture<Node> created = new CompletableFuture<>();
                CompletableFuture<Void> granted = new CompletableFuture<>();
                handle.create(
                        queue + "/lock-",
                        ZooKeeperTestBed.DATA,
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL_SEQUENTIAL,
                        (rc, path, context, name, stat) -> {
                            if (rc == 0) {
                                created.complete(new Node(name, stat.getCzxid()));
                            } else {
                                fail(created, rc, path);
                            }
                        },
                        null);
                list(queue, created, granted); // the server replies in the order of the requests
                try {
                    Node node = created.get();
                    granted.get();
                    return new QueuedNode(handle, node);
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof KeeperException.NoNodeException)) {
                        throw e;
                    }
                    createQueue(queue);
                }
            }
        }

        private void list(String queue, CompletableFuture<Node> created, CompletableFuture<Void> granted) {
            handle.getChildren(
                    queue,
                    false,
                    (rc, path, context, children) -> {
                        if (created.isCompletedExceptionally()) {
                            return; // the failed create has already been reported to the caller
                        }
                        if (rc != 0) {
                            fail(granted, rc, path);
                            return;
                        }
                        String own = created.join().path().substring(queue.length() + 1);
                        Optional<String> predecessor = predecessor(children, own);
                        if (predecessor.isEmpty()) {
                            granted.complete(null);
                        } else {
                            watch(queue, queue + "/" + predecessor.get(), created, granted);
                        }
                    },
                    null);
        }

        private void watch(
                String queue, String predecessor, CompletableFuture<Node> created, CompletableFuture<Void> granted) {
            handle.getData(
                    predecessor,
                    event -> {
                        if (event.getType() == EventType.NodeDeleted) {
                            list(queue, created, granted); // the owner of that node may have died while still waiting
                        }
                    },
                    (rc, path, context, data, stat) -> {
                        if (rc == Code.NONODE.intValue()) {
                            list(queue, created, granted);
                        } else if (rc != 0) {
                            fail(granted, rc, path);
                        }
                    },
                    null);
        }

        private void createQueue(String queue) throws Exception {
            for (String path : List.of(BASE, queue)) {
                try {
                    handle.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
                } catch (KeeperException.NodeExistsException e) {
                    // another client created it
                }
            }
        }

        @Override
        public void close() throws InterruptedException {
            handle.close();
        }
    }

    /** Returns the node immediately before {@code own}; empty if {@code own} is the first one. */
    static Optional<String> predecessor(List<String> children, String own) {
        return children.stream().filter(child -> child.compareTo(own) < 0).max(Comparator.naturalOrder());
    }

    private static void fail(CompletableFuture<?> future, int code, String path) {
        future.completeExceptionally(KeeperException.create(Code.get(code), path));
    }

    private record QueuedNode(ZooKeeper handle, Node node) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.of(node.czxid());
        }

        @Override
        public void release() throws Exception {
            delete().get();
        }

        @Override
        public void releaseAsync() {
            delete();
        }

        private CompletableFuture<Void> delete() {
            CompletableFuture<Void> deleted = new CompletableFuture<>();
            handle.delete(
                    node.path(),
                    -1,
                    (rc, path, context) -> {
                        if (rc == 0) {
                            deleted.complete(null);
                        } else {
                            fail(deleted, rc, path);
                        }
                    },
                    null);
            return deleted;
        }
    }
}
