// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
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
 * Sends requests over a ZooKeeper handle and returns futures, which fail with {@link KeeperException}.
 *
 * <p>Requests on one handle are sent and answered in their order. Answers, like watch events, arrive on the handle's only event
 * thread.
 */
public final class AsyncZooKeeper {
    private final ZooKeeper handle;
    private final LockClock clock;
    private volatile MonotonicTime answeredAt;

    AsyncZooKeeper(ZooKeeper handle, LockClock clock) {
        this.handle = handle;
        this.clock = clock;
        this.answeredAt = clock.now();
    }

    /** Returns the handle itself. */
    public ZooKeeper handle() {
        return handle;
    }

    /** Returns when a server last answered a request, on the client's clock. */
    MonotonicTime answeredAt() {
        return answeredAt;
    }

    /** A node that was created. */
    public record CreatedNode(String path, long czxid) {}

    /** The data of a node, read as UTF-8, and its status. */
    public record NodeData(String text, Stat stat) {}

    /** Creates a node. */
    public CompletableFuture<CreatedNode> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
        CompletableFuture<CreatedNode> answer = new CompletableFuture<>();
        handle.create(
                path,
                data,
                acl,
                mode,
                (rc, asked, context, name, stat) ->
                        answer(answer, rc, asked, rc == 0 ? new CreatedNode(name, stat.getCzxid()) : null),
                null);
        return answer;
    }

    /**
     * Creates an ephemeral sequential node together with the container around it, in one transaction.
     *
     * @param child the prefix of the node's name
     */
    public CompletableFuture<CreatedNode> createInNewContainer(
            String container, String child, byte[] data, List<ACL> acl) {
        CompletableFuture<CreatedNode> answer = new CompletableFuture<>();
        handle.multi(
                List.of(
                        Op.create(container, new byte[0], acl, CreateMode.CONTAINER),
                        Op.create(container + "/" + child, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL)),
                (rc, asked, context, results) ->
                        answer(answer, rc, container, rc == 0 ? created(container, results) : null),
                null);
        return answer;
    }

    /** All nodes of one transaction have the same zxid, but only a container's result contains it. Paths here include the chroot. */
    private static CreatedNode created(String container, List<OpResult> results) {
        long czxid = ((OpResult.CreateResult) results.get(0)).getStat().getCzxid();
        String child = ((OpResult.CreateResult) results.get(1)).getPath();
        return new CreatedNode(container + child.substring(child.lastIndexOf('/')), czxid);
    }

    /** Lists the children of a node. */
    public CompletableFuture<List<String>> children(String path) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        handle.getChildren(
                path,
                (Watcher) null,
                (int rc, String asked, Object context, List<String> children) -> answer(answer, rc, asked, children),
                null);
        return answer;
    }

    /** Returns whether the node belongs to this handle's session. */
    public boolean isOfThisSession(Stat stat) {
        return stat.getEphemeralOwner() == handle.getSessionId();
    }

    /** Reads a node. */
    public CompletableFuture<NodeData> data(String path) {
        return data(path, null, stat -> {});
    }

    /** Reads the configuration of the ensemble, whatever the chroot of this handle. */
    public CompletableFuture<String> config() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        handle.getConfig(false, (rc, asked, context, data, stat) -> answer(answer, rc, asked, text(data)), null);
        return answer;
    }

    /**
     * Reads a node, and registers a watch if the node exists. By getData, which unlike exists leaves no watch on a missing node.
     *
     * @param registered runs on the event thread before any later event, so it can tell on which connection that was
     */
    public CompletableFuture<NodeData> data(String path, @Nullable Watcher watcher, Consumer<Stat> registered) {
        CompletableFuture<NodeData> answer = new CompletableFuture<>();
        handle.getData(
                path,
                watcher,
                (rc, asked, context, data, stat) -> {
                    if (rc == 0) {
                        registered.accept(stat);
                    }
                    answer(answer, rc, asked, rc == 0 ? new NodeData(text(data), stat) : null);
                },
                null);
        return answer;
    }

    /** Registers a watch on a node. Completes with whether the node exists, and so is watched. */
    public CompletableFuture<Boolean> watch(String path, Watcher watcher, Consumer<Stat> registered) {
        return data(path, watcher, registered).thenApply(content -> true).exceptionallyCompose(ifMissing(false));
    }

    /**
     * Lists the children of a lock node; none if it does not exist.
     *
     * @param syncFirst ensures that a server to which the client has moved is not behind the last one
     */
    public CompletableFuture<List<String>> queue(String lockNode, boolean syncFirst) {
        CompletableFuture<Boolean> synced = syncFirst ? sync(lockNode) : CompletableFuture.completedFuture(true);
        return synced.thenCombine(
                children(lockNode).exceptionallyCompose(ifMissing(List.of())), (ok, children) -> children);
    }

    /** Counts the children of a node, 0 if it does not exist, without listing them. */
    public CompletableFuture<Integer> childCount(String path) {
        return data(path).thenApply(content -> content.stat().getNumChildren()).exceptionallyCompose(ifMissing(0));
    }

    private static <T> Function<Throwable, CompletionStage<T>> ifMissing(T instead) {
        return failure -> ZooKeeperErrors.hasCode(failure, Code.NONODE)
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure);
    }

    /** Creates a node unless it exists. */
    public CompletableFuture<Boolean> ensure(String path, List<ACL> acl, CreateMode mode) {
        return create(path, new byte[0], acl, mode)
                .thenApply(made -> true)
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(true)
                        : CompletableFuture.failedFuture(failure));
    }

    /** Deletes a node. Completes with whether it existed. */
    public CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.delete(
                path,
                -1,
                (rc, asked, context) -> {
                    boolean missing = rc == Code.NONODE.intValue();
                    answer(answer, missing ? 0 : rc, asked, !missing);
                },
                null);
        return answer;
    }

    /** Makes later reads on this handle see all that was committed before, on whatever server. */
    public CompletableFuture<Boolean> sync(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.sync(path, (rc, asked, context) -> answer(answer, rc, asked, true), null);
        return answer;
    }

    /**
     * Sends a write that changes nothing. It is answered only once a majority has logged it, and only if the session was alive
     * then. It needs no more than the permission to read the node.
     */
    public CompletableFuture<Boolean> commit(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.multi(
                List.of(Op.check(path, -1)), (rc, asked, context, results) -> answer(answer, rc, path, true), null);
        return answer;
    }

    /** Removes a data watch that nobody needs any more. Does not report failures: such a watch is only superfluous. */
    public void removeWatch(String path, Watcher watcher, boolean managedHandle) {
        if (managedHandle) {
            handle.removeAllWatches(path, WatcherType.Data, true, (rc, asked, context) -> {}, null);
        } else {
            // local=false: a reply that is lost with the connection would suppress the application's Disconnected
            // event.
            handle.removeWatches(path, watcher, WatcherType.Data, false, (rc, asked, context) -> {}, null);
        }
    }

    private static String text(byte @Nullable [] data) {
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }

    private <T> void answer(CompletableFuture<T> answer, int rc, String path, @Nullable T value) {
        if (rc != Code.CONNECTIONLOSS.intValue()) {
            answeredAt = clock.now();
        }
        if (rc == 0 && value != null) {
            answer.complete(value);
        } else {
            Code code = Code.get(rc);
            answer.completeExceptionally(KeeperException.create(code == null ? Code.SYSTEMERROR : code, path));
        }
    }
}
