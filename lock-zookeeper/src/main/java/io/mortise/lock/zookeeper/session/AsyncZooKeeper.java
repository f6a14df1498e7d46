// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
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
 * Sends asynchronous requests on a ZooKeeper handle.
 *
 * <p>The handle sends requests in order, and the server replies in the same order. Replies, like watch events, arrive on the
 * handle's only event thread. A {@link ResponseHandler} is called there, in that order; the dependents of a future may run
 * later. The failures are {@link KeeperException}s. If the handle throws instead, so does a request with a handler, while a future
 * fails.
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

    /** Handles the response to one request, on the handle's event thread. */
    public interface ResponseHandler<T> {
        /**
         * Handles the response.
         *
         * @param value the result; null if the request failed
         * @param failure the exception; null if the request succeeded
         */
        void responded(@Nullable T value, @Nullable Throwable failure);
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
    public void create(String path, byte[] data, List<ACL> acl, CreateMode mode, ResponseHandler<CreatedNode> handler) {
        handle.create(
                path,
                data,
                acl,
                mode,
                (rc, requested, context, name, stat) ->
                        respond(handler, rc, requested, rc == 0 ? new CreatedNode(name, stat.getCzxid()) : null),
                null);
    }

    /**
     * Creates an ephemeral sequential node together with the container around it, in one transaction.
     *
     * @param child the prefix of the node's name
     */
    public void createInNewContainer(
            String container, String child, byte[] data, List<ACL> acl, ResponseHandler<CreatedNode> handler) {
        handle.multi(
                List.of(
                        Op.create(container, new byte[0], acl, CreateMode.CONTAINER),
                        Op.create(container + "/" + child, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL)),
                (rc, requested, context, results) ->
                        respond(handler, rc, container, rc == 0 ? created(container, results) : null),
                null);
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

    /** Lists the children of a node. The list is empty if the node does not exist. */
    public void children(String path, ResponseHandler<List<String>> handler) {
        handle.getChildren(
                path,
                (Watcher) null,
                (int rc, String requested, Object context, List<String> children) -> {
                    boolean missing = rc == Code.NONODE.intValue();
                    respond(handler, missing ? 0 : rc, requested, missing ? List.of() : children);
                },
                null);
    }

    /** Lists the children of a node. Completes with an empty list if the node does not exist. */
    public CompletableFuture<List<String>> children(String path) {
        return future(handler -> children(path, handler));
    }

    /** Returns whether the node belongs to this handle's session. */
    public boolean isOfThisSession(Stat stat) {
        return stat.getEphemeralOwner() == handle.getSessionId();
    }

    /** Reads a node. */
    public CompletableFuture<NodeData> data(String path) {
        return future(handler -> handle.getData(
                path,
                (Watcher) null,
                (rc, requested, context, data, stat) ->
                        respond(handler, rc, requested, rc == 0 ? new NodeData(text(data), stat) : null),
                null));
    }

    /** Reads the configuration of the ensemble, independently of the handle's chroot. */
    public CompletableFuture<String> config() {
        return future(handler -> handle.getConfig(
                false, (rc, requested, context, data, stat) -> respond(handler, rc, requested, text(data)), null));
    }

    /**
     * Reads the status of a node. Uses {@code getData}, which unlike {@code exists} registers no watch on a missing node.
     *
     * @param watcher is registered on the node if the node exists; null for none
     */
    public void stat(String path, @Nullable Watcher watcher, ResponseHandler<Stat> handler) {
        handle.getData(
                path,
                watcher,
                (rc, requested, context, data, stat) -> respond(handler, rc, requested, rc == 0 ? stat : null),
                null);
    }

    /** Counts the children of a node without listing them. Completes with 0 if the node does not exist. */
    public CompletableFuture<Integer> childCount(String path) {
        return data(path)
                .thenApply(content -> content.stat().getNumChildren())
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(0)
                        : CompletableFuture.failedFuture(failure));
    }

    /** Creates a node unless it already exists. */
    public CompletableFuture<Boolean> createIfMissing(String path, List<ACL> acl, CreateMode mode) {
        CompletableFuture<CreatedNode> created = future(handler -> create(path, new byte[0], acl, mode, handler));
        return created.thenApply(node -> true)
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(true)
                        : CompletableFuture.failedFuture(failure));
    }

    /** Deletes a node. The result is whether the node existed. */
    public void delete(String path, ResponseHandler<Boolean> handler) {
        handle.delete(
                path,
                -1,
                (rc, requested, context) -> {
                    boolean missing = rc == Code.NONODE.intValue();
                    respond(handler, missing ? 0 : rc, requested, !missing);
                },
                null);
    }

    /** Deletes a node. Completes with whether the node existed. */
    public CompletableFuture<Boolean> delete(String path) {
        return future(handler -> delete(path, handler));
    }

    /**
     * Makes later reads on this connection see every write that was committed before on any server, unless the leader that
     * replies has been cut off and another one elected. If that matters, use {@link #commitNoOp}.
     */
    public CompletableFuture<Boolean> sync(String path) {
        return future(
                handler -> handle.sync(path, (rc, requested, context) -> respond(handler, rc, requested, true), null));
    }

    /**
     * Sends a write that changes nothing. The server replies only once a majority has logged the write, and only if the session
     * was alive then. The write needs only the permission to read the node.
     */
    public CompletableFuture<Boolean> commitNoOp(String path) {
        return future(handler -> commitNoOp(path, handler));
    }

    /** Sends the same write. It is committed too if it fails since the node does not exist. */
    public void commitNoOp(String path, ResponseHandler<Boolean> handler) {
        handle.multi(
                List.of(Op.check(path, -1)),
                (rc, requested, context, results) -> respond(handler, rc, path, true),
                null);
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

    private static <T> CompletableFuture<T> future(Consumer<ResponseHandler<T>> request) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            request.accept((value, failure) -> {
                if (failure == null) {
                    result.complete(value);
                } else {
                    result.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    private <T> void respond(ResponseHandler<T> handler, int rc, String path, @Nullable T value) {
        if (rc != Code.CONNECTIONLOSS.intValue()) {
            lastResponseAt = clock.now();
        }
        if (rc == 0 && value != null) {
            handler.responded(value, null);
        } else {
            Code code = Code.get(rc);
            handler.responded(null, KeeperException.create(code == null ? Code.SYSTEMERROR : code, path));
        }
    }
}
