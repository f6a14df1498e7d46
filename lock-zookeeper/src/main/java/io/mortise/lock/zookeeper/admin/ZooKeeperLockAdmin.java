// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.zookeeper.queue.ContenderNode;
import io.mortise.lock.zookeeper.queue.LockPaths;
import io.mortise.lock.zookeeper.session.AsyncZooKeeper;
import io.mortise.lock.zookeeper.session.ZooKeeperErrors;
import io.mortise.lock.zookeeper.session.ZooKeeperHandles;
import io.mortise.lock.zookeeper.session.ZooKeeperSession;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionManager;
import io.mortise.lock.zookeeper.session.ZooKeeperSessionValidity;
import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;

/** Implements {@link LockAdmin} for ZooKeeper by reading and deleting the contenders' nodes below the lock nodes. */
public final class ZooKeeperLockAdmin implements LockAdmin {
    private static final int MAX_PIPELINED = 100;

    /** The most lock nodes that are read for one page. A page may end before it is full, to stay within the request timeout. */
    private static final int MAX_READ = 2_000;

    private final ZooKeeperSettings settings;
    private final ZooKeeperSessionManager sessions;
    private final LockPaths paths;
    private final BackendContext context;

    /** Creates the administration for one client. */
    public ZooKeeperLockAdmin(
            ZooKeeperSettings settings, ZooKeeperSessionManager sessions, LockPaths paths, BackendContext context) {
        this.settings = settings;
        this.sessions = sessions;
        this.paths = paths;
        this.context = context;
    }

    /** A queued contender, with the path of its node. */
    private record QueuedContender(String path, LockHolder holder) {}

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return request("status of lock \"" + LockName.shown(name) + "\"", zooKeeper -> status(zooKeeper, name))
                .toCompletableFuture();
    }

    private CompletionStage<LockStatus> status(AsyncZooKeeper zooKeeper, String name) {
        return queue(zooKeeper, name).thenApply(queue -> {
            List<LockHolder> holders =
                    queue.stream().map(QueuedContender::holder).toList();
            int held = Math.min(1, holders.size());
            return new LockStatus(name, holders.subList(0, held), holders.subList(held, holders.size()));
        });
    }

    private CompletionStage<List<QueuedContender>> queue(AsyncZooKeeper zooKeeper, String name) {
        String lockNode = paths.lockNode(new LockName(name));
        return zooKeeper.children(lockNode).thenCompose(children -> {
            CompletionStage<List<QueuedContender>> all = CompletableFuture.completedFuture(new ArrayList<>());
            for (ContenderNode contender : ContenderNode.queue(children)) {
                String path = lockNode + "/" + contender.name();
                all = all.thenCombine(read(zooKeeper, path), (list, read) -> {
                    read.ifPresent(list::add);
                    return list;
                });
            }
            return all;
        });
    }

    /** Reads one contender. Completes with empty if its node was deleted meanwhile. */
    private static CompletionStage<Optional<QueuedContender>> read(AsyncZooKeeper zooKeeper, String path) {
        return zooKeeper
                .data(path)
                .thenApply(content -> Optional.of(new QueuedContender(
                        path,
                        OwnerRecordCodec.parse(
                                content.text(),
                                OptionalLong.of(content.stat().getCzxid()),
                                ZooKeeperForeignContenderAttributes.of(path, content.stat())))))
                .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(failure));
    }

    /** Lists locks in the order of their names. The cursor is the last name that was read for the page before. */
    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return request(
                        "list of locks",
                        zooKeeper -> lockNodes(zooKeeper).thenCompose(nodes -> {
                            TreeMap<String, String> names = new TreeMap<>();
                            for (String node : nodes) {
                                LockPaths.lockName(node)
                                        .filter(name -> name.startsWith(prefix))
                                        .ifPresent(name -> names.put(name, node));
                            }
                            Map<String, String> rest = cursor.isEmpty() ? names : names.tailMap(cursor, false);
                            return fill(zooKeeper, List.copyOf(rest.keySet()), 0, limit, new ArrayList<>());
                        }))
                .toCompletableFuture();
    }

    /** Lists all lock nodes in one response, since ZooKeeper has no paging. Fails if the response would be too long. */
    private CompletionStage<List<String>> lockNodes(AsyncZooKeeper zooKeeper) {
        return lockNodeCount(zooKeeper).thenCompose(count -> {
            int max = ZooKeeperHandles.maxChildren(zooKeeper.handle());
            if (count > max) {
                throw new BackendRefusedException("list of locks: "
                        + paths.base() + " at "
                        + sessions.endpoints() + " has " + count + " nodes, this ZooKeeper handle can list " + max
                        + ": raise its jute.maxbuffer");
            }
            return zooKeeper.children(paths.base());
        });
    }

    private CompletionStage<Integer> lockNodeCount(AsyncZooKeeper zooKeeper) {
        return zooKeeper.childCount(paths.base());
    }

    /** Adds only the held locks to a page: a lock node remains for a while after its last contender has been deleted. */
    private CompletionStage<Page> fill(
            AsyncZooKeeper zooKeeper, List<String> names, int from, int limit, List<LockStatus> page) {
        if (page.size() == limit || from >= Math.min(names.size(), MAX_READ)) {
            Optional<String> next = from < names.size() ? Optional.of(names.get(from - 1)) : Optional.empty();
            return CompletableFuture.completedFuture(new Page(page, next));
        }
        int until = Math.min(names.size(), from + Math.min(MAX_PIPELINED, limit - page.size()));
        CompletionStage<List<LockStatus>> batch = CompletableFuture.completedFuture(page);
        for (String name : names.subList(from, until)) {
            batch = batch.thenCombine(status(zooKeeper, name), (list, status) -> {
                if (!status.holders().isEmpty()) {
                    list.add(status);
                }
                return list;
            });
        }
        return batch.thenCompose(list -> fill(zooKeeper, names, until, limit, list));
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        return request(
                        "forced release of lock \"" + LockName.shown(name) + "\"",
                        zooKeeper -> queue(zooKeeper, name)
                                .thenCompose(queue -> queue.isEmpty()
                                                || !isSameGrant(queue.get(0).holder(), seen)
                                        ? CompletableFuture.completedFuture(false)
                                        : zooKeeper.delete(queue.get(0).path())))
                .toCompletableFuture(); // node names are never reused, so this cannot delete another grant
    }

    private static boolean isSameGrant(LockHolder holder, LockHolder seen) {
        return holder.token().equals(seen.token()) && holder.raw().equals(seen.raw());
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        CompletionStage<List<Finding>> ensemble = request(
                "diagnosis",
                zooKeeper -> zooKeeper
                        .config()
                        .thenApply(ZooKeeperRiskCheck::ensemble)
                        .exceptionallyCompose(failure -> ZooKeeperErrors.hasCode(failure, Code.NOAUTH)
                                        || ZooKeeperErrors.hasCode(failure, Code.NONODE)
                                ? CompletableFuture.completedFuture(List.of(ZooKeeperRiskCheck.hiddenConfig(failure)))
                                : CompletableFuture.failedFuture(failure)));
        CompletionStage<List<Finding>> lockNodes =
                request("diagnosis", zooKeeper -> lockNodeCount(zooKeeper).thenApply(ZooKeeperRiskCheck::lockNodes));
        return ensemble.thenCombine(lockNodes, (found, ofLockNodes) -> {
                    List<Finding> all = new ArrayList<>(found);
                    all.addAll(ofLockNodes);
                    return all;
                })
                .thenCombine(servers(), (all, ofServers) -> {
                    all.addAll(ofServers);
                    all.addAll(ZooKeeperRiskCheck.settings(settings, sessions.sessionTimeout()));
                    return all;
                })
                .toCompletableFuture();
    }

    private CompletionStage<List<Finding>> servers() {
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (ServerStatusProbe server : ServerStatusProbe.of(settings, context.requestTimeout())) {
            all = all.thenCombine(
                    CompletableFuture.supplyAsync(server::query, context.blocking()), (found, response) -> {
                        found.addAll(ZooKeeperRiskCheck.server(server.endpoint(), response));
                        return found;
                    });
        }
        return all;
    }

    private <T> CompletionStage<T> request(String what, Function<AsyncZooKeeper, CompletionStage<T>> call) {
        ZooKeeperSession session;
        try {
            session = sessions.current();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(ZooKeeperErrors.toLockException(e, what, sessions.endpoints()));
        }
        CompletableFuture<ZooKeeperSessionValidity> opened = session.ready();
        return sessions.withTimeout(what, opened.thenCompose(validity -> call.apply(session.zooKeeper())))
                .whenComplete((answer, failure) -> opened.cancel(false)) // it may not be open yet
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                        ZooKeeperErrors.toLockException(failure, what, sessions.endpoints())));
    }
}
