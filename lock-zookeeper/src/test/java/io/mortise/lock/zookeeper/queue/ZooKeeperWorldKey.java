// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Znode;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Commit;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Stray;
import java.util.Map;

/** The key of a world: equal for worlds from which the same can happen. */
final class ZooKeeperWorldKey {
    private ZooKeeperWorldKey() {}

    static void describe(ZooKeeperWorld world, StateKey key) {
        ModelledServers servers = world.servers;
        key.list(servers.all, ZooKeeperWorldKey::describe);
        key.list(world.clients, ZooKeeperWorldKey::describe);
        key.list(servers.strays, ZooKeeperWorldKey::describe);
        key.numbers(servers.openSessions);
        key.number(world.faults.left()).number(world.highestToken);
        key.participants(
                world.contenders.size(), (view, i) -> describe(world.contenders.get(i), view), (details, i) -> {
                    ModelledContender contender = world.contenders.get(i);
                    details.value(contender.protocol.phase()).number(contender.token);
                    details.list(contender.inbox, StateKey::value);
                });
    }

    private static void describe(StateKey key, ModelledServers.Server server) {
        key.number(server.tree().zxid()).list(server.tree().nodes().entrySet(), ZooKeeperWorldKey::describe);
        key.list(server.backlog, ZooKeeperWorldKey::describe);
        server.model.watches().forEach((path, clients) -> key.value(path).numbers(clients));
    }

    private static void describe(StateKey key, Map.Entry<String, Znode> entry) {
        Znode node = entry.getValue();
        key.value(entry.getKey()).number(node.czxid()).number(node.owner());
        if (node.owner() == 0) {
            key.sequence(node.creates());
        }
    }

    private static void describe(StateKey key, ModelledClient client) {
        key.value("\nclient").number(client.session).number(client.server);
        key.number(client.connection).number(client.lastZxid);
        key.flags(client.connected, client.deadlinePassed, client.ended, client.lockNodeUnused);
        key.value(" sent").list(client.sent, ZooKeeperWorldKey::describe);
        key.value(" open").list(client.open, ZooKeeperWorldKey::describe);
        key.value(" arriving").list(client.arriving, ZooKeeperWorldKey::describe);
        key.value(" listeners").number(client.listeners.size());
        client.listeners.forEach((path, listening) -> key.value(path).list(listening, StateKey::participant));
        key.value(" releasing").list(client.releasing, StateKey::value);
        key.value(" watches").list(client.watches, StateKey::value);
        key.value(" registered").list(client.registered, StateKey::participant);
    }

    private static void describe(StateKey key, Arrival arrival) {
        key.flags(arrival.request() != null);
        if (arrival.request() != null) {
            describe(key, arrival.request());
        }
        key.value(arrival.code()).value(arrival.path()).number(arrival.number());
        key.list(arrival.children(), StateKey::value).number(arrival.zxid());
    }

    private static void describe(StateKey key, Request request) {
        key.value(request.kind()).flags(request.paired()).participant(Math.max(0, request.contender()));
        key.number(request.incarnation()).value(request.path());
    }

    private static void describe(StateKey key, Commit commit) {
        key.number(commit.client()).number(commit.session()).number(commit.connection());
        if (commit.request() != null) {
            describe(key, commit.request());
        } else {
            key.value(commit.write());
        }
    }

    private static void describe(StateKey key, Stray stray) {
        key.number(stray.session());
        describe(key, stray.request());
    }

    /** Describes what makes a contender differ from the others, without names and times. */
    private static void describe(ModelledContender contender, StateKey key) {
        key.value("\ncontender").number(contender.client).number(contender.incarnation);
        key.value(contender.protocol.phase().getClass()).value(contender.core);
        key.flags(
                contender.woken,
                contender.gaveUp,
                contender.timedOut,
                contender.revoked,
                contender.deferredWatch,
                contender.dropsList,
                contender.unsentList != null);
    }
}
