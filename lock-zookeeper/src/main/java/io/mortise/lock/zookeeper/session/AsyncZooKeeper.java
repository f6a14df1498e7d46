// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Sends asynchronous requests on a ZooKeeper handle, and returns their results as futures.
 *
 * <p>The futures fail with {@link KeeperException}. The handle sends requests in order, and the server replies in the same
 * order. Replies, like watch events, arrive on the handle's only event thread.
 */
public final class AsyncZooKeeper {
    private final ZooKeeper handle;
    private final LockClock clock;
    private volatile MonotonicInstant lastResponseAt;

    AsyncZooKeeper(ZooKeeper handle, LockClock clock) {
        this.handle = handle;
        this.clock = clock;
        this.lastResponseAt = clock.now();
    }

    /** Returns the underlying ZooKeeper handle. */
    public ZooKeeper handle() {
        return handle;
    }

    /** Returns the time of the last response from a server, on the client's clock. */
    MonotonicInstant lastResponseAt() {
        return lastResponseAt;
    }

    /**
     * A node that was created.
     *
     * @param czxid the id of the transaction that created the node
     */
    public record CreatedNode(String path, long czxid) {}

    /**
     * The data and the status of a node.
     *
     * @param text the data, decoded as UTF-8
     */
    public record NodeData(String text, Stat stat) {}

    /** Creates a node. */
    public CompletableFuture<CreatedNode> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
        CompletableFuture<CreatedNode> result = new CompletableFuture<>();
        handle.create(
                path,
                data,
                acl,
                mode,
                (rc, requested, context, name, stat) ->
                        complete(result, rc, requested, rc == 0 ? new CreatedNode(name, stat.getCzxid()) : null),
                null);
        return result;
    }

    /**
     * Creates an ephemeral sequential node together with the container around it, in one transaction.
     *
     * @param child the prefix of the node's name
     */
    public CompletableFuture<CreatedNode> createInNewContainer(
            String container, String child, byte[] data, List<ACL> acl) {
        CompletableFuture<CreatedNode> result = new CompletableFuture<>();
        handle.multi(
                List.of(
                        Op.create(container, new byte[0], acl, CreateMode.CONTAINER),
                        Op.create(container + "/" + child, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL)),
                (rc, requested, context, results) ->
                        complete(result, rc, container, rc == 0 ? created(container, results) : null),
                null);
        return result;
    }

    /**
     * Returns the child that the transaction created. All nodes of one transaction have the same zxid, but only the container's
     * result contains it. The paths in the results include the chroot.
     */
    private static CreatedNode created(String container, List<OpResult> results) {
        long czxid = ((OpResult.CreateResult) results.get(0)).getStat().getCzxid();
        String child = ((OpResult.CreateResult) results.get(1)).getPath();
        return new CreatedNode(container + child.substring(child.lastIndexOf('/')), czxid);
    }

    /** Lists the children of a node. */
    public CompletableFuture<List<String>> children(String path) {
        CompletableFuture<List<String>> result = new CompletableFuture<>();
        handle.getChildren(
                path,
                (Watcher) null,
                (int rc, String requested, Object context, List<String> children) ->
                        complete(result, rc, requested, children),
                null);
        return result;
    }

    /** Returns whether the node belongs to this handle's session. */
    public boolean isOfThisSession(Stat stat) {
        return stat.getEphemeralOwner() == handle.getSessionId();
    }

    /** Reads a node. */
    public CompletableFuture<NodeData> data(String path) {
        return data(path, null, stat -> {});
    }

    /** Reads the configuration of the ensemble, independently of the handle's chroot. */
    public CompletableFuture<String> config() {
        CompletableFuture<String> result = new CompletableFuture<>();
        handle.getConfig(
                false, (rc, requested, context, data, stat) -> complete(result, rc, requested, text(data)), null);
        return result;
    }

    /**
     * Reads a node, and registers a watch if the node exists. Uses {@code getData}, which unlike {@code exists} registers no
     * watch on a missing node.
     *
     * @param registered runs on the event thread before any later event, so it can record on which connection the watch was
     *     registered
     */
    public CompletableFuture<NodeData> data(String path, @Nullable Watcher watcher, Consumer<Stat> registered) {
        CompletableFuture<NodeData> result = new CompletableFuture<>();
        handle.getData(
                path,
                watcher,
                (rc, requested, context, data, stat) -> {
                    if (rc == 0) {
                        registered.accept(stat);
                    }
                    complete(result, rc, requested, rc == 0 ? new NodeData(text(data), stat) : null);
                },
                null);
        return result;
    }

    /** Registers a watch on a node if the node exists. Completes with whether it exists. */
    public CompletableFuture<Boolean> watch(String path, Watcher watcher, Consumer<Stat> registered) {
        return data(path, watcher, registered).thenApply(content -> true).exceptionallyCompose(ifMissing(false));
    }

    /**
     * Lists the children of a lock node. Completes with an empty list if the lock node does not exist.
     *
     * @param syncFirst whether to send a sync first, so that the client does not read older data after it has changed servers
     *
     */
    public CompletableFuture<List<String>> queue(String lockNode, boolean syncFirst) {
        CompletableFuture<Boolean> synced = syncFirst ? sync(lockNode) : CompletableFuture.completedFuture(true);
        return synced.thenCombine(
                children(lockNode).exceptionallyCompose(ifMissing(List.of())), (ok, children) -> children);
    }

    /** Counts the children of a node without listing them. Completes with 0 if the node does not exist. */
    public CompletableFuture<Integer> childCount(String path) {
        return data(path).thenApply(content -> content.stat().getNumChildren()).exceptionallyCompose(ifMissing(0));
    }

    private static <T> Function<Throwable, CompletionStage<T>> ifMissing(T instead) {
        return failure -> ZooKeeperErrors.hasCode(failure, Code.NONODE)
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure);
    }

    /** Creates a node unless it already exists. */
    public CompletableFuture<Boolean> createIfMissing(String path, List<ACL> acl, CreateMode mode) {
        return create(path, new byte[0], acl, mode)
                .thenApply(created -> true)
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(true)
                        : CompletableFuture.failedFuture(failure));
    }

    /** Deletes a node. Completes with whether the node existed. */
    public CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        handle.delete(
                path,
                -1,
                (rc, requested, context) -> {
                    boolean missing = rc == Code.NONODE.intValue();
                    complete(result, missing ? 0 : rc, requested, !missing);
                },
                null);
        return result;
    }

    /** Makes later reads on this handle see every write that was committed before on any server. */
    public CompletableFuture<Boolean> sync(String path) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        handle.sync(path, (rc, requested, context) -> complete(result, rc, requested, true), null);
        return result;
    }

    /**
     * Sends a write that changes nothing. The server replies only once a majority has logged the write, and only if the session
     * was alive then. The write needs only the permission to read the node.
     */
    public CompletableFuture<Boolean> commitNoOp(String path) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        handle.multi(
                List.of(Op.check(path, -1)),
                (rc, requested, context, results) -> complete(result, rc, path, true),
                null);
        return result;
    }

    /** Removes a data watch that is no longer needed. Does not report failures, since a remaining watch is only superfluous. */
    public void removeWatch(String path, Watcher watcher, boolean managedHandle) {
        if (managedHandle) {
            handle.removeAllWatches(path, WatcherType.Data, true, (rc, requested, context) -> {}, null);
        } else {
            // local=false: otherwise a reply lost with the connection would suppress the application's Disconnected
            // event
            handle.removeWatches(path, watcher, WatcherType.Data, false, (rc, requested, context) -> {}, null);
        }
    }

    private static String text(byte @Nullable [] data) {
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }

    private <T> void complete(CompletableFuture<T> result, int rc, String path, @Nullable T value) {
        if (rc != Code.CONNECTIONLOSS.intValue()) {
            lastResponseAt = clock.now();
        }
        if (rc == 0 && value != null) {
            result.complete(value);
        } else {
            Code code = Code.get(rc);
            result.completeExceptionally(KeeperException.create(code == null ? Code.SYSTEMERROR : code, path));
        }
    }
}
