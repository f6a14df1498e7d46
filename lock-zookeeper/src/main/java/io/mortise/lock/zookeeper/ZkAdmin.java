// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecord;
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

/** The operator's view: reads the queues as they stand. */
final class ZkAdmin implements LockAdmin {
    private static final int PIPELINED = 100;

    /** Lock nodes that are read for one page: it may end before it is full, rather than run into the request timeout. */
    private static final int MOST_READ = 2_000;

    private final ZkBackend backend;
    private final ZooKeeperOptions options;

    ZkAdmin(ZkBackend backend, ZooKeeperOptions options) {
        this.backend = backend;
        this.options = options;
    }

    /** One that stands in line, and the node behind it. */
    private record InLine(String path, LockHolder holder) {}

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return ask("status of lock \"" + LockName.shown(name) + "\"", calls -> status(calls, name));
    }

    private CompletionStage<LockStatus> status(ZkCalls calls, String name) {
        return line(calls, name).thenApply(line -> {
            List<LockHolder> holders = line.stream().map(InLine::holder).toList();
            int held = Math.min(1, holders.size());
            return new LockStatus(name, holders.subList(0, held), holders.subList(held, holders.size()));
        });
    }

    private CompletionStage<List<InLine>> line(ZkCalls calls, String name) {
        String lockNode = backend.paths().lockNode(new LockName(name));
        return calls.line(lockNode, false).thenCompose(children -> {
            CompletionStage<List<InLine>> found = CompletableFuture.completedFuture(new ArrayList<>());
            for (Contender contender : Contender.inLine(children, Optional.empty())) {
                String path = lockNode + "/" + contender.node();
                CompletionStage<Optional<InLine>> one = read(calls, path);
                found = found.thenCombine(one, (list, next) -> {
                    next.ifPresent(list::add);
                    return list;
                });
            }
            return found;
        });
    }

    /** Empty: it left meanwhile. */
    private static CompletionStage<Optional<InLine>> read(ZkCalls calls, String path) {
        return calls.data(path)
                .thenApply(content -> Optional.of(new InLine(
                        path,
                        OwnerRecord.parse(
                                content.text(),
                                OptionalLong.of(content.stat().getCzxid()),
                                ForeignNode.about(path, content.stat())))))
                .exceptionallyCompose(failure -> ZkFailure.is(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(failure));
    }

    /** In the order of names; the cursor is the last name that was read for the page before. */
    @Override
    public CompletionStage<Page> list(String prefix, int limit, Optional<String> cursor) {
        return ask(
                "list of locks",
                calls -> lockNodes(calls).thenCompose(nodes -> {
                    TreeMap<String, String> names = new TreeMap<>();
                    for (String node : nodes) {
                        LockPaths.lockName(node)
                                .filter(name -> name.startsWith(prefix))
                                .ifPresent(name -> names.put(name, node));
                    }
                    Map<String, String> rest = cursor.isPresent() ? names.tailMap(cursor.get(), false) : names;
                    return fill(calls, List.copyOf(rest.keySet()), 0, limit, new ArrayList<>());
                }));
    }

    /** ZooKeeper has no pages: all come in one answer, or it is not asked. */
    private CompletionStage<List<String>> lockNodes(ZkCalls calls) {
        return lockNodeCount(calls).thenCompose(count -> {
            int most = ZkHandle.mostChildren(calls.handle());
            if (count > most) {
                throw new BackendRefusedException("list of locks: "
                        + backend.paths().base() + " at "
                        + backend.endpoints() + " has " + count + " nodes, this ZooKeeper handle can list " + most
                        + ": raise its jute.maxbuffer");
            }
            return calls.line(backend.paths().base(), false);
        });
    }

    private CompletionStage<Integer> lockNodeCount(ZkCalls calls) {
        return calls.childCount(backend.paths().base());
    }

    /** Lock nodes stay for a while after the last contender left: only held ones count. */
    private CompletionStage<Page> fill(ZkCalls calls, List<String> names, int from, int limit, List<LockStatus> page) {
        if (page.size() == limit || from >= Math.min(names.size(), MOST_READ)) {
            Optional<String> next = from < names.size() ? Optional.of(names.get(from - 1)) : Optional.empty();
            return CompletableFuture.completedFuture(new Page(page, next));
        }
        int until = Math.min(names.size(), from + Math.min(PIPELINED, limit - page.size()));
        CompletionStage<List<LockStatus>> batch = CompletableFuture.completedFuture(page);
        for (String name : names.subList(from, until)) {
            batch = batch.thenCombine(status(calls, name), (list, status) -> {
                if (!status.holders().isEmpty()) {
                    list.add(status);
                }
                return list;
            });
        }
        return batch.thenCompose(list -> fill(calls, names, until, limit, list));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, LockHolder seen) {
        return ask(
                "forced release of lock \"" + LockName.shown(name) + "\"",
                calls -> line(calls, name)
                        .thenCompose(line -> line.isEmpty() || !same(line.get(0).holder(), seen)
                                ? CompletableFuture.completedFuture(false)
                                : calls.delete(line.get(0)
                                        .path()))); // the name of a node is never used again: only that grant goes
    }

    private static boolean same(LockHolder holds, LockHolder seen) {
        return holds.token().equals(seen.token()) && holds.raw().equals(seen.raw());
    }

    @Override
    public CompletionStage<List<Finding>> diagnose() {
        CompletionStage<List<Finding>> ensemble = ask(
                "diagnosis",
                calls -> calls.config()
                        .thenApply(ZkDiagnosis::ensemble)
                        .exceptionallyCompose(
                                failure -> ZkFailure.is(failure, Code.NOAUTH) || ZkFailure.is(failure, Code.NONODE)
                                        ? CompletableFuture.completedFuture(List.of(ZkDiagnosis.hidden(failure)))
                                        : CompletableFuture.failedFuture(failure)));
        CompletionStage<List<Finding>> lockNodes =
                ask("diagnosis", calls -> lockNodeCount(calls).thenApply(ZkDiagnosis::lockNodes));
        return ensemble.thenCombine(lockNodes, (found, ofLockNodes) -> {
                    List<Finding> all = new ArrayList<>(found);
                    all.addAll(ofLockNodes);
                    return all;
                })
                .thenCombine(servers(), (all, ofServers) -> {
                    all.addAll(ofServers);
                    all.addAll(ZkDiagnosis.settings(options, backend.leaseDuration(Optional.empty())));
                    return all;
                });
    }

    private CompletionStage<List<Finding>> servers() {
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (ServerWord server : ServerWord.of(options, backend.wordTimeoutMillis())) {
            all = all.thenCombine(backend.blocking(server::ask), (found, answer) -> {
                found.addAll(ZkDiagnosis.server(server.endpoint(), answer));
                return found;
            });
        }
        return all;
    }

    private <T> CompletionStage<T> ask(String what, Function<ZkCalls, CompletionStage<T>> request) {
        CompletionStage<T> answer;
        try {
            ZkSession session = backend.session();
            answer = session.ready().thenCompose(liveness -> request.apply(session.calls()));
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        return backend.timed(what, answer)
                .exceptionallyCompose(
                        failure -> CompletableFuture.failedFuture(ZkFailure.of(failure, what, backend.endpoints())));
    }
}
