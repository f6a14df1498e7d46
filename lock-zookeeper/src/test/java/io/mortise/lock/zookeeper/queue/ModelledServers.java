// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.zookeeper.ZooKeeperServerModel;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CloseSession;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Create;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CreateInContainer;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Delete;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Outcome;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Commit;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Stray;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** The servers, their sessions, and what they may still execute of lost connections. The first one is the leader. */
final class ModelledServers {
    static final long FIRST_ZXID = 1_000_000_000_000_000L; // 16 digits, so that only its rank counts

    final List<Server> all = new ArrayList<>();
    final List<Stray> strays;
    final TreeSet<Long> openSessions;
    final TreeSet<Long> sessionsOfOldLeader; // that it may still serve, since it is cut off; empty if it is not
    private final List<ModelledClient> clients;
    private final boolean executesLate;

    /**
     * Creates servers without nodes.
     *
     * @param executesLate whether requests of a lost connection may be executed later
     */
    ModelledServers(int servers, List<ModelledClient> clients, boolean executesLate) {
        this.clients = clients;
        this.executesLate = executesLate;
        strays = new ArrayList<>();
        openSessions = new TreeSet<>();
        sessionsOfOldLeader = new TreeSet<>();
        for (int i = 0; i < servers; i++) {
            all.add(new Server());
        }
    }

    /** Copies the servers for the copied clients. */
    ModelledServers(ModelledServers from, List<ModelledClient> clients) {
        this.clients = clients;
        executesLate = from.executesLate;
        strays = new ArrayList<>(from.strays);
        openSessions = new TreeSet<>(from.openSessions);
        sessionsOfOldLeader = new TreeSet<>(from.sessionsOfOldLeader);
        from.all.forEach(each -> all.add(new Server(each)));
    }

    static final class Server {
        final ZooKeeperServerModel model;
        final List<Commit> backlog;

        Server() {
            model = new ZooKeeperServerModel(ZooKeeperTree.empty(FIRST_ZXID));
            backlog = new ArrayList<>();
        }

        Server(Server from) {
            model = new ZooKeeperServerModel(from.model);
            backlog = new ArrayList<>(from.backlog);
        }

        ZooKeeperTree tree() {
            return model.tree();
        }
    }

    Server get(int number) {
        return all.get(number);
    }

    ZooKeeperTree leaderTree() {
        return all.get(0).tree();
    }

    /** Returns whether the leader has had nodes, and has none any more. */
    boolean areEmptyAgain() {
        return leaderTree().nodes().isEmpty() && leaderTree().zxid() > FIRST_ZXID + 1;
    }

    /** Returns the queue as the leader has it. */
    List<String> queue() {
        return ContenderNode.queue(leaderTree().children(ZooKeeperWorld.LOCK).orElse(List.of())).stream()
                .map(ContenderNode::name)
                .toList();
    }

    boolean hasClient(int server) {
        return clients.stream().anyMatch(client -> client.connected && client.server == server);
    }

    /** Returns whether this is the former leader, which does not know yet that the others have elected a new one. */
    boolean isCutOff(int server) {
        return server == 1 && !sessionsOfOldLeader.isEmpty();
    }

    /**
     * Returns whether what the client has sent has to wait. A follower serves a client in order, so its reads wait for its
     * transactions; a leader that is cut off executes no transaction.
     */
    boolean isBlocked(int i) {
        ModelledClient client = clients.get(i);
        Request first = client.sent.get(0);
        if (isCutOff(client.server) && first.isOrdered() && first.kind() != RequestKind.SYNC) {
            return true;
        }
        return all.get(client.server).backlog.stream()
                .anyMatch(each -> each.client() == i && each.connection() == client.connection);
    }

    /**
     * Has a follower without clients apply what cannot matter any more, so that fewer worlds differ.
     *
     * @param needed whether a client may connect to it later
     */
    void catchUp(boolean needed) {
        for (int i = 1; i < all.size(); i++) {
            if (!hasClient(i)) {
                Server follower = all.get(i);
                long seen =
                        clients.stream().mapToLong(each -> each.lastZxid).min().orElse(0);
                if (!needed) {
                    sessionsOfOldLeader.clear();
                }
                while (!isCutOff(i)
                        && !follower.backlog.isEmpty()
                        && (!needed || follower.tree().zxid() < seen)) {
                    apply(i, follower.backlog.remove(0));
                }
            }
        }
    }

    /** A server gets all that it lacks before it serves clients of a new leader. */
    void joinLeader() {
        sessionsOfOldLeader.clear();
        all.stream().skip(1).forEach(follower -> {
            while (!follower.backlog.isEmpty()) {
                apply(1, follower.backlog.remove(0));
            }
        });
    }

    void execute(int at, Request request) {
        ModelledClient client = clients.get(at);
        Server server = all.get(client.server);
        if (isCutOff(client.server) && request.kind() == RequestKind.SYNC) { // it asks no other server
            apply(client.server, new Commit(null, at, client.session, client.connection, request));
            return;
        }
        if (request.isOrdered()) {
            // What the client sent on an earlier connection is executed before, or not at all.
            strays.removeIf(stray -> stray.session() == client.session);
            commit(
                    request.isBarrier() ? null : write(request, client.session),
                    at,
                    client.session,
                    client.connection,
                    request);
            return;
        }
        if (request.kind() == RequestKind.REMOVE_WATCH) {
            server.model.unwatch(at, request.path());
            return;
        }
        if (request.kind() == RequestKind.LIST) {
            respond(
                    at,
                    request,
                    KeeperException.Code.OK,
                    "",
                    0,
                    server.tree().children(ZooKeeperWorld.LOCK).orElse(List.of()),
                    server);
            return;
        }
        boolean isWatch = request.kind() == RequestKind.WATCH;
        ZooKeeperTree.@Nullable Znode node = isWatch
                ? server.model.watch(at, request.path())
                : server.tree().nodes().get(request.path());
        if (node == null) {
            respond(at, request, KeeperException.Code.NONODE, "", 0, List.of(), server);
            return;
        }
        long number = isWatch ? node.owner() : node.czxid();
        respond(at, request, KeeperException.Code.OK, "", number, List.of(), server);
    }

    static Write write(Request request, long session) {
        return switch (request.kind()) {
            case CREATE -> new Create(request.path(), session);
            case CREATE_WITH_LOCK_NODE ->
                new CreateInContainer(
                        ZooKeeperWorld.LOCK, request.path().substring(ZooKeeperWorld.LOCK.length() + 1), session);
            default -> new Delete(request.path());
        };
    }

    /** The leader orders a transaction. The follower will apply it. */
    void commit(@Nullable Write write, int at, long session, long connection, @Nullable Request request) {
        Commit commit = new Commit(write, at, session, connection, request);
        apply(0, commit);
        all.stream().skip(1).forEach(follower -> follower.backlog.add(commit));
    }

    void closeSession(long session, boolean reversed) {
        int at = (int) (session / 10);
        openSessions.remove(session);
        strays.removeIf(stray -> stray.session() == session);
        if (clients.get(at).session == session && !clients.get(at).ended && !isCutOff(clients.get(at).server)) {
            disconnect(at);
            clients.get(at).connected = false;
        }
        commit(new CloseSession(session, reversed), -1, session, -1, null);
    }

    /** Drops what is on its way on a connection. */
    void disconnect(int at) {
        ModelledClient client = clients.get(at);
        if (executesLate && openSessions.contains(client.session) && !isCutOff(client.server)) {
            client.sent.stream()
                    .filter(Request::isOrdered)
                    .filter(request -> !request.isBarrier())
                    .forEach(request -> strays.add(new Stray(at, client.session, request)));
        }
        client.sent.clear();
        client.arriving.clear();
        all.forEach(server -> server.model.disconnect(at));
    }

    void apply(int number, Commit commit) {
        Server server = all.get(number);
        Outcome outcome = commit.write() == null
                ? new Outcome(server.tree(), ZooKeeperTree.Code.OK, "", List.of())
                : server.model.apply(
                        commit.write(),
                        (at, path) -> clients.get(at)
                                .arriving
                                .add(Arrival.ofDeletion(path, server.tree().zxid())));
        Request request = commit.request();
        if (request == null || !request.hasResponse()) {
            return;
        }
        ModelledClient client = clients.get(commit.client());
        if (client.server != number || client.session != commit.session() || client.connection != commit.connection()) {
            return;
        }
        if (request.kind() == RequestKind.DELETE) {
            boolean existed = outcome.code() == ZooKeeperTree.Code.OK;
            respond(commit.client(), request, KeeperException.Code.OK, "", existed ? 1 : 0, List.of(), server);
            return;
        }
        respond(
                commit.client(),
                request,
                KeeperException.Code.valueOf(outcome.code().name()),
                outcome.path(),
                outcome.next().zxid(),
                List.of(),
                server);
    }

    private void respond(
            int at,
            Request request,
            KeeperException.Code code,
            String path,
            long number,
            List<String> children,
            Server server) {
        if (clients.get(at).connected) {
            clients.get(at)
                    .arriving
                    .add(new Arrival(
                            request, code, path, number, children, server.tree().zxid()));
        }
    }
}
