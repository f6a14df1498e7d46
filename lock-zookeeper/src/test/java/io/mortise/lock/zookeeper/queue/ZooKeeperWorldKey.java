// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CloseSession;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Create;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.CreateInContainer;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Delete;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Write;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Znode;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Commit;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Stray;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;

/**
 * The key of a world: equal for worlds from which the same can happen, also if they differ only in which of two contenders of one
 * client, or of two clients with one contender each, is which.
 */
final class ZooKeeperWorldKey {
    private final ZooKeeperWorld world;
    private final StateKey key;
    private final boolean clientsAreAlike;
    private final boolean mayReconnect; // so that the last transaction that a client has seen counts
    private final long lowest; // the last transaction of the server that has the fewest

    private ZooKeeperWorldKey(ZooKeeperWorld world, StateKey key) {
        this.world = world;
        this.key = key;
        this.clientsAreAlike = world.scope.clientsAreAlike();
        this.mayReconnect = world.mayReconnect();
        this.lowest = world.servers.all.stream()
                .mapToLong(each -> each.tree().zxid())
                .min()
                .orElseThrow();
    }

    static void describe(ZooKeeperWorld world, StateKey key) {
        new ZooKeeperWorldKey(world, key).describe();
    }

    private void describe() {
        key.number(world.faults.left()).number(world.highestToken);
        key.participants(world.contenders.size(), (view, i) -> describeView(i), (details, i) -> {
            ModelledContender contender = world.contenders.get(i);
            details.value(contender.protocol.phase()).number(contender.token);
            details.list(contender.inbox, StateKey::value);
        });
        // From here on, names are replaced by labels, so that parts that contain them have an order.
        key.list(world.servers.all, (same, each) -> describe(each));
        if (clientsAreAlike) {
            key.unordered(IntStream.range(0, world.clients.size()).boxed().toList(), (same, i) -> {
                key.participant(i);
                describeClient(i);
            });
        } else {
            IntStream.range(0, world.clients.size()).forEach(this::describeClient);
        }
        key.list(world.servers.strays, (same, each) -> describe(each));
    }

    /** Describes what makes a contender differ from the others, without names. */
    private void describeView(int i) {
        ModelledContender contender = world.contenders.get(i);
        if (clientsAreAlike) {
            describeView(world.clients.get(i));
        } else {
            key.number(contender.client);
        }
        key.value("\ncontender").number(contender.incarnation);
        key.value(contender.protocol.phase().getClass()).value(contender.core);
        // What the core does not ask for any more does not count.
        CorePhase core = contender.core;
        boolean isOver = core == CorePhase.DONE;
        key.flags(
                contender.woken && (core == CorePhase.ATTEMPTING || core == CorePhase.WAITING),
                contender.gaveUp && core.isAcquiring(),
                contender.timedOut && !isOver,
                contender.revoked && (core == CorePhase.HOLDING || core.isAcquiring()),
                contender.deferredWatch,
                contender.dropsList,
                contender.removed && !isOver,
                contender.unsentList != null);
    }

    private void describeView(ModelledClient client) {
        key.value("\nclient").number(client.server);
        key.number(client.connection).number(client.sent.size()).number(client.arriving.size());
        describeTransaction(mayReconnect ? client.lastZxid : 0);
        key.flags(client.connected, client.deadlinePassed, client.ended, client.lockNodeUnused);
    }

    private void describe(ModelledServers.Server server) {
        describeTransaction(server.tree().zxid());
        key.unordered(server.tree().nodes().entrySet(), (same, each) -> describe(each));
        key.list(server.backlog, (same, each) -> describe(each));
        key.unordered(server.model.watches().entrySet(), (same, each) -> {
            key.value(each.getKey()).unordered(each.getValue(), (again, at) -> describeNumber(at));
        });
    }

    private void describe(Map.Entry<String, Znode> entry) {
        Znode node = entry.getValue();
        key.value(entry.getKey());
        if (node.owner() == 0) {
            key.sequence(node.creates());
        } else {
            key.number(node.czxid());
            describeSession(node.owner());
        }
    }

    /** Which of the transactions that all servers have is the last that a client has seen makes no difference. */
    private void describeTransaction(long zxid) {
        key.number(Math.max(0, zxid - lowest));
    }

    private void describeNumber(int client) {
        if (clientsAreAlike && client >= 0) {
            key.participant(client);
        } else {
            key.number(client);
        }
    }

    private void describeSession(long session) {
        describeNumber((int) (session / 10));
        key.number(session % 10);
    }

    private void describeClient(int at) {
        ModelledClient client = world.clients.get(at);
        if (!clientsAreAlike) {
            describeView(client);
        }
        key.number(client.session % 10);
        key.list(
                world.servers.openSessions.subSet(at * 10L, at * 10L + 10),
                (same, each) -> key.number(each % 10).flags(world.servers.sessionsOfOldLeader.contains(each)));
        key.value(" sent").list(client.sent, (same, each) -> describe(each));
        key.value(" arriving").list(client.arriving, (same, each) -> describe(client, each));
        key.value(" listeners").unordered(client.listeners.entrySet(), (same, each) -> {
            key.value(each.getKey()).unordered(each.getValue(), StateKey::participant);
        });
        key.value(" releasing").unordered(client.releasing, StateKey::value);
        key.value(" watches").unordered(client.watches, StateKey::value);
        key.value(" registered").unordered(client.registered, StateKey::participant);
    }

    private void describe(ModelledClient client, Arrival arrival) {
        Request request = arrival.request();
        if (request == null) {
            key.value(arrival.path());
            return;
        }
        describe(request);
        key.value(arrival.code()).value(arrival.path());
        if (request.kind() == RequestKind.WATCH) {
            key.flags(arrival.number() == client.session);
        } else if (arrival.code() == KeeperException.Code.OK && !request.isBarrier()) {
            key.number(arrival.number());
        }
        key.unordered(arrival.children(), StateKey::value);
        describeTransaction(mayReconnect ? arrival.zxid() : 0);
    }

    private void describe(Request request) {
        key.value(request.kind()).flags(request.paired());
        if (request.contender() >= 0) {
            key.participant(request.contender());
        }
        key.number(request.incarnation()).value(request.path());
    }

    private void describe(Commit commit) {
        describeNumber(commit.client());
        describeSession(commit.session());
        key.number(commit.connection());
        if (commit.request() != null) {
            describe(commit.request());
        } else if (commit.write() != null) {
            describe(commit.write());
        }
    }

    private void describe(Write write) {
        key.value(write.getClass());
        if (write instanceof Create create) {
            key.value(create.prefix());
            describeSession(create.owner());
        } else if (write instanceof CreateInContainer create) {
            key.value(create.child());
            describeSession(create.owner());
        } else if (write instanceof Delete delete) {
            key.value(delete.path());
        } else if (write instanceof CloseSession close) {
            describeSession(close.owner());
            key.flags(close.reversed());
        }
    }

    private void describe(Stray stray) {
        describeSession(stray.session());
        describe(stray.request());
    }
}
