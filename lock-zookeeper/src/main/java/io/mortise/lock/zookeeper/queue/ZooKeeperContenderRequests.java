// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.CreateFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Created;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ListFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Listed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.NodeRead;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.ReadFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.RemovalFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Removed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.WatchFailed;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderEvent.Watched;
import io.mortise.lock.zookeeper.session.AsyncZooKeeper;
import io.mortise.lock.zookeeper.session.NodeWatchRegistry;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Sends the requests of one contender on one session, and turns their outcomes into its events, on the event thread. */
final class ZooKeeperContenderRequests {
    private final ZooKeeperSession session;
    private final LockContainerNodeLifecycle lockNodes;
    private final String lockNode;
    private final LockRequest request;
    private final NodeWatchRegistry.Listener listener;
    private final Consumer<ZooKeeperContenderEvent> events;

    ZooKeeperContenderRequests(
            ZooKeeperSession session,
            LockContainerNodeLifecycle lockNodes,
            LockRequest request,
            NodeWatchRegistry.Listener listener,
            Consumer<ZooKeeperContenderEvent> events) {
        this.session = session;
        this.lockNodes = lockNodes;
        this.lockNode = lockNodes.paths().lockNode(request.name());
        this.request = request;
        this.listener = listener;
        this.events = events;
    }

    private byte[] record() {
        return request.ownerRecord().getBytes(StandardCharsets.UTF_8);
    }

    private String prefix() {
        return ContenderNode.prefix(request.attemptId());
    }

    /** Sends a create, and a list that counts if the create succeeds. */
    void create() {
        lockNodes.markUsed(lockNode);
        boolean[] created = {false}; // used on the event thread only, where the response precedes that to the list
        session.zooKeeper()
                .create(
                        lockNode + "/" + prefix(),
                        record(),
                        lockNodes.acl(),
                        CreateMode.EPHEMERAL_SEQUENTIAL,
                        (node, failure) -> {
                            created[0] = node != null;
                            onCreate(node, failure);
                        });
        session.zooKeeper().children(lockNode, (children, failure) -> {
            if (created[0]) {
                onList(children, failure);
            }
        });
    }

    void createWithLockNode() {
        lockNodes.createWithChild(session, lockNode, prefix(), record(), this::onCreate);
    }

    private void onCreate(AsyncZooKeeper.@Nullable CreatedNode node, @Nullable Throwable failure) {
        if (node != null) {
            events.accept(new Created(node.path(), node.czxid()));
        } else {
            fail(new CreateFailed(cause(failure)));
        }
    }

    void list(boolean commitFirst) {
        if (!commitFirst) {
            session.zooKeeper().children(lockNode, this::onList);
            return;
        }
        boolean[] failed = {false}; // used on the event thread only
        session.zooKeeper().commitNoOp(lockNodes.paths().base(), (done, failure) -> {
            failed[0] = failure != null && !ZooKeeperErrors.hasCode(failure, Code.NONODE);
            if (failed[0]) {
                fail(new ListFailed(cause(failure)));
            }
        });
        session.zooKeeper().children(lockNode, (children, failure) -> {
            if (!failed[0]) {
                onList(children, failure);
            }
        });
    }

    private void onList(@Nullable List<String> children, @Nullable Throwable failure) {
        if (children != null) {
            events.accept(new Listed(children, session.connection()));
        } else {
            fail(new ListFailed(cause(failure)));
        }
    }

    void read(String path) {
        session.zooKeeper().stat(path, null, (stat, failure) -> {
            if (stat != null) {
                events.accept(new NodeRead(stat.getCzxid()));
            } else {
                fail(new ReadFailed(cause(failure)));
            }
        });
    }

    void remove(String path) {
        session.watches().beginRelease(path);
        try {
            session.zooKeeper().delete(path, (existed, failure) -> {
                session.watches().endRelease(path);
                if (existed != null) {
                    events.accept(new Removed(existed));
                } else {
                    fail(new RemovalFailed(cause(failure)));
                }
            });
        } catch (RuntimeException | Error e) {
            session.watches().endRelease(path); // there may be no response
            throw e;
        }
    }

    /** Deletes a node, and then the lock's node if it has no other children. Does not wait, and does not report failures. */
    void deleteWithLockNode(String path) {
        session.zooKeeper().delete(path);
        session.zooKeeper().delete(lockNode);
    }

    void listen(String path) {
        session.watches().add(path, listener);
    }

    void unlisten(String path) {
        session.watches().remove(path, listener);
    }

    void watch(String path) {
        session.watches()
                .add(
                        path,
                        listener,
                        () -> session.zooKeeper().stat(path, session, (stat, failure) -> {
                            if (stat != null) {
                                boolean sameSession = session.zooKeeper().isOfThisSession(stat);
                                events.accept(new Watched(path, session.connection(), sameSession));
                            } else {
                                fail(new WatchFailed(path, session.connection(), cause(failure)));
                            }
                        }));
    }

    /** Removes the watch on the server too, unless another contender of the session needs it. */
    void unwatch(String path) {
        session.watches()
                .remove(path, listener, () -> session.zooKeeper().removeWatch(path, session, session.isManaged()));
    }

    private static Throwable cause(@Nullable Throwable failure) {
        return failure == null ? new IllegalStateException("a response without a value") : failure;
    }

    private void fail(ZooKeeperContenderEvent.Failed event) {
        if (ZooKeeperErrors.hasCode(event.failure(), Code.SESSIONEXPIRED)) {
            session.end("the session expired");
        }
        events.accept(event);
    }
}
