// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.spi.LockClock;
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
 * ZooKeeper's asynchronous calls as futures that fail with {@link KeeperException}. Calls on one handle are sent and
 * answered in their order; answers, like watch events, come on the handle's one event thread.
 */
final class ZkCalls {
    private final ZooKeeper handle;
    private final LockClock clock;
    private volatile long answeredAt;

    ZkCalls(ZooKeeper handle, LockClock clock) {
        this.handle = handle;
        this.clock = clock;
        this.answeredAt = clock.nanoTime();
    }

    ZooKeeper handle() {
        return handle;
    }

    /** When a server last answered one of these calls, on the client's clock. */
    long answeredAt() {
        return answeredAt;
    }

    /** A node that was created. */
    record Created(String path, long czxid) {}

    /** What a node holds, read as UTF-8. */
    record Content(String text, Stat stat) {}

    CompletableFuture<Created> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
        CompletableFuture<Created> answer = new CompletableFuture<>();
        handle.create(
                path,
                data,
                acl,
                mode,
                (rc, asked, context, name, stat) ->
                        answer(answer, rc, asked, rc == 0 ? new Created(name, stat.getCzxid()) : null),
                null);
        return answer;
    }

    /**
     * Makes an ephemeral sequential node together with the container around it, in one transaction.
     *
     * @param child how the node's name begins
     */
    CompletableFuture<Created> createInNewContainer(String container, String child, byte[] data, List<ACL> acl) {
        CompletableFuture<Created> answer = new CompletableFuture<>();
        handle.multi(
                List.of(
                        Op.create(container, new byte[0], acl, CreateMode.CONTAINER),
                        Op.create(container + "/" + child, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL)),
                (rc, asked, context, results) ->
                        answer(answer, rc, container, rc == 0 ? created(container, results) : null),
                null);
        return answer;
    }

    /** All that one transaction makes has the same zxid, and only a container's result tells it. Paths here have the chroot. */
    private static Created created(String container, List<OpResult> results) {
        long czxid = ((OpResult.CreateResult) results.get(0)).getStat().getCzxid();
        String child = ((OpResult.CreateResult) results.get(1)).getPath();
        return new Created(container + child.substring(child.lastIndexOf('/')), czxid);
    }

    CompletableFuture<List<String>> children(String path) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        handle.getChildren(
                path,
                (Watcher) null,
                (int rc, String asked, Object context, List<String> children) -> answer(answer, rc, asked, children),
                null);
        return answer;
    }

    /** Whether a node is there as long as this handle's session. */
    boolean isOfThisSession(Stat stat) {
        return stat.getEphemeralOwner() == handle.getSessionId();
    }

    /** Reads a node. */
    CompletableFuture<Content> data(String path) {
        return data(path, null, stat -> {});
    }

    /** What the ensemble says of itself, wherever the root of this handle is. */
    CompletableFuture<String> config() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        handle.getConfig(false, (rc, asked, context, data, stat) -> answer(answer, rc, asked, text(data)), null);
        return answer;
    }

    /**
     * Reads a node, and arms the watch if the node is there. With getData: unlike exists, it leaves no watch on a node that
     * is gone.
     *
     * @param armed runs on the event thread before any later event, so that it knows on which connection that was
     */
    CompletableFuture<Content> data(String path, @Nullable Watcher watcher, Consumer<Stat> armed) {
        CompletableFuture<Content> answer = new CompletableFuture<>();
        handle.getData(
                path,
                watcher,
                (rc, asked, context, data, stat) -> {
                    if (rc == 0) {
                        armed.accept(stat);
                    }
                    answer(answer, rc, asked, rc == 0 ? new Content(text(data), stat) : null);
                },
                null);
        return answer;
    }

    /** {@link #data} for its watch alone: whether the node is there, and the watch armed. */
    CompletableFuture<Boolean> watch(String path, Watcher watcher, Consumer<Stat> armed) {
        return data(path, watcher, armed).thenApply(content -> true).exceptionallyCompose(absent(false));
    }

    /**
     * The children of a lock node, none if it is not there.
     *
     * @param syncFirst makes sure that a server which was joined meanwhile has seen all that the last one had
     */
    CompletableFuture<List<String>> line(String lockNode, boolean syncFirst) {
        CompletableFuture<Boolean> synced = syncFirst ? sync(lockNode) : CompletableFuture.completedFuture(true);
        return synced.thenCombine(
                children(lockNode).exceptionallyCompose(absent(List.of())), (ok, children) -> children);
    }

    /** How many children a node has, 0 if it is not there; costs nothing however many they are. */
    CompletableFuture<Integer> childCount(String path) {
        return data(path).thenApply(content -> content.stat().getNumChildren()).exceptionallyCompose(absent(0));
    }

    private static <T> Function<Throwable, CompletionStage<T>> absent(T instead) {
        return failure -> ZkFailure.is(failure, Code.NONODE)
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure);
    }

    /** Makes a node that may be there already. */
    CompletableFuture<Boolean> ensure(String path, List<ACL> acl, CreateMode mode) {
        return create(path, new byte[0], acl, mode)
                .thenApply(made -> true)
                .exceptionallyCompose(failure -> ZkFailure.is(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(true)
                        : CompletableFuture.failedFuture(failure));
    }

    /** True: it was there. */
    CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.delete(
                path,
                -1,
                (rc, asked, context) -> {
                    boolean absent = rc == Code.NONODE.intValue();
                    answer(answer, absent ? 0 : rc, asked, !absent);
                },
                null);
        return answer;
    }

    /** What was committed before this is seen by what is read after it, on whatever server. */
    CompletableFuture<Boolean> sync(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.sync(path, (rc, asked, context) -> answer(answer, rc, asked, true), null);
        return answer;
    }

    /**
     * Changes nothing, but is a write: answered only once a majority has logged it, and only to a session that stood then.
     * Needs no more than the permission to read the node.
     */
    CompletableFuture<Boolean> commit(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.multi(
                List.of(Op.check(path, -1)), (rc, asked, context, results) -> answer(answer, rc, path, true), null);
        return answer;
    }

    /** Forgets a data watch that nobody needs any more; without an answer that matters. */
    void removeWatch(String path, Watcher watcher, boolean ownHandle) {
        if (ownHandle) {
            handle.removeAllWatches(path, WatcherType.Data, true, (rc, asked, context) -> {}, null);
        } else {
            // Not locally: a reply lost with the connection would take the application's Disconnected event with it.
            handle.removeWatches(path, watcher, WatcherType.Data, false, (rc, asked, context) -> {}, null);
        }
    }

    private static String text(byte @Nullable [] data) {
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }

    private <T> void answer(CompletableFuture<T> answer, int rc, String path, @Nullable T value) {
        if (rc != Code.CONNECTIONLOSS.intValue()) {
            answeredAt = clock.nanoTime();
        }
        if (rc == 0 && value != null) {
            answer.complete(value);
        } else {
            Code code = Code.get(rc);
            answer.completeExceptionally(KeeperException.create(code == null ? Code.SYSTEMERROR : code, path));
        }
    }
}
