// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Znode;
import io.mortise.lock.zookeeper.queue.WatchedQueue.Predecessor;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Holding;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.InDoubt;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Phase;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Queued;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Arrival;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Checks the rules in each {@link ZooKeeperWorld}, and names the situations that are present in it. */
final class ZooKeeperChecks {
    private ZooKeeperChecks() {}

    /** Returns what is wrong in this world: the rule and what breaks it; empty if nothing is. */
    static Optional<String> violation(ZooKeeperWorld world) {
        if (world.broken.isPresent()) {
            return world.broken;
        }
        List<Integer> believers = new ArrayList<>(1);
        for (int i = 0; i < world.contenders.size(); i++) {
            if (world.believes(i)) {
                believers.add(i);
            }
        }
        if (believers.size() > 1) {
            return Optional.of("S01: contenders " + believers + " hold the lock");
        }
        if (believers.size() == 1 && !isHead(world, believers.get(0))) {
            return Optional.of("S01: contender " + believers.get(0) + " holds the lock, and the queue is "
                    + world.servers.queue());
        }
        for (ModelledContender contender : world.contenders) {
            if (isRevoked(world, contender) && hearsNothing(world, contender)) {
                return Optional.of("S07: contender " + world.contenders.indexOf(contender)
                        + " holds the lock, and does not hear that its node was deleted");
            }
        }
        for (ModelledClient client : world.clients) {
            for (Set<Integer> listening : client.listeners.values()) {
                if (listening.stream().anyMatch(i -> world.contenders.get(i).core == CorePhase.DONE)) {
                    return Optional.of("S10: a contender has ended and still listens: " + client.listeners);
                }
            }
        }
        if (isFinal(world)) {
            List<String> queue = world.servers.queue();
            if (!queue.isEmpty()) {
                return Optional.of("S08: all contenders have ended, and the queue has " + queue);
            }
            if (world.scope.faults() == 0 && !world.servers.leaderTree().nodes().isEmpty()) {
                return Optional.of("S17: all contenders have ended, and the lock's node remains");
            }
            for (ModelledClient client : world.clients) {
                if (!client.listeners.isEmpty() || !client.releasing.isEmpty() || !client.registered.isEmpty()) {
                    return Optional.of("S10: all contenders have ended, and the registry has " + client.listeners
                            + client.releasing + client.registered);
                }
            }
            for (ModelledServers.Server server : world.servers.all) {
                if (!server.model.watches().isEmpty()) {
                    return Optional.of(
                            "S10: all contenders have ended, and a server has the watches " + server.model.watches());
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isHead(ZooKeeperWorld world, int i) {
        List<String> queue = world.servers.queue();
        return !queue.isEmpty() && world.contenders.get(i).owns(queue.get(0));
    }

    /** Returns whether the node of a contender's lease was deleted, while its session goes on. */
    private static boolean isRevoked(ZooKeeperWorld world, ModelledContender contender) {
        ModelledClient client = world.clients.get(contender.client);
        return contender.core == CorePhase.HOLDING
                && !client.deadlinePassed
                && !client.ended
                && world.servers.queue().stream().noneMatch(contender::owns);
    }

    /** Returns whether nothing happens by which a contender could hear of anything. */
    private static boolean hearsNothing(ZooKeeperWorld world, ModelledContender contender) {
        ModelledClient client = world.clients.get(contender.client);
        return client.connected
                && client.sent.isEmpty()
                && client.arriving.isEmpty()
                && contender.inbox.isEmpty()
                && !contender.deferredWatch
                && !world.servers.isCutOff(client.server)
                && world.servers.get(client.server).backlog.isEmpty();
    }

    /** Returns whether all contenders are done, and all that happens in the end has happened. */
    static boolean isFinal(ZooKeeperWorld world) {
        return world.contenders.stream().allMatch(each -> each.core == CorePhase.DONE && each.unsentList == null)
                && world.clients.stream()
                        .allMatch(client -> client.ended
                                || (client.connected
                                        && !client.deadlinePassed
                                        && !client.lockNodeUnused
                                        && client.sent.isEmpty()
                                        && client.open.isEmpty()
                                        && client.arriving.isEmpty()))
                && world.servers.openSessions.stream()
                        .allMatch(session -> world.clients.get((int) (session / 10)).session == session
                                && !world.clients.get((int) (session / 10)).ended)
                && world.servers.strays.isEmpty()
                && IntStream.range(0, world.servers.all.size())
                        .allMatch(i -> world.servers.get(i).backlog.isEmpty() || !world.servers.hasClient(i));
    }

    /** Returns the names of the situations that are present. */
    static List<String> situations(ZooKeeperWorld world) {
        TreeSet<String> present = new TreeSet<>();
        for (ModelledContender contender : world.contenders) {
            present.add(contender.protocol.phase().getClass().getSimpleName());
            if (contender.core == CorePhase.HOLDING) {
                present.add("held");
            }
            if (contender.gaveUp) { // also before the end, of which the key has no reason
                present.add("given up");
            }
            if (contender.incarnation > 0) {
                present.add("displaced");
            }
        }
        if (world.servers.areEmptyAgain()) {
            present.add("no lock node again");
        }
        addEffects(world, present);
        return List.copyOf(present);
    }

    /** Adds what only a fault, or a follower that lags behind, can lead to. */
    private static void addEffects(ZooKeeperWorld world, Set<String> present) {
        for (ModelledContender contender : world.contenders) {
            ModelledClient client = world.clients.get(contender.client);
            Phase phase = contender.protocol.phase();
            if (phase instanceof InDoubt && client.connection > 1) {
                present.add("in doubt on another connection");
            }
            if (phase instanceof InDoubt && arrives(client, each -> isCreateOf(contender, each.request()))) {
                present.add("in doubt about a create whose response arrives");
            }
            if (phase instanceof InDoubt && isMissedByList(world, contender, client)) {
                present.add("a list misses a create that was in doubt before");
            }
            if (phase instanceof Queued queued && client.connected) {
                addAwaited(world, queued, client, present);
            }
            if (phase instanceof Holding && contender.core.isAcquiring()) {
                present.add("a grant comes too late for its attempt");
            }
            if (isRevoked(world, contender)) {
                present.add("a holder's node is deleted");
            }
            if (!contender.inbox.isEmpty()) {
                present.add("an event waits for a thread that stands still");
            }
        }
        if (world.clients.size() > 1 && world.clients.stream().noneMatch(each -> each.connected || each.ended)) {
            present.add("nobody is connected");
        }
        for (Znode node : world.servers.leaderTree().nodes().values()) {
            ModelledClient owner = world.clients.get((int) (node.owner() / 10));
            if (node.owner() != 0 && (owner.ended || owner.session != node.owner())) {
                present.add("the queue has a node of an ended session");
            }
        }
    }

    private static boolean arrives(ModelledClient client, Predicate<Arrival> arrival) {
        return client.arriving.stream().anyMatch(arrival);
    }

    private static boolean isCreateOf(ModelledContender contender, @Nullable Request request) {
        return request != null
                && (request.kind() == RequestKind.CREATE || request.kind() == RequestKind.CREATE_WITH_LOCK_NODE)
                && contender.owns(request.path().substring(ZooKeeperWorld.LOCK.length() + 1));
    }

    /** Returns whether the leader has listed the queue without the contender's node, on the connection after that of the create. */
    private static boolean isMissedByList(ZooKeeperWorld world, ModelledContender contender, ModelledClient client) {
        return client.server == 0
                && world.servers.queue().stream().anyMatch(contender::owns)
                && arrives(client, ZooKeeperChecks::isList)
                && !arrives(
                        client, each -> isList(each) && each.children().stream().anyMatch(contender::owns))
                && !arrives(client, each -> isCreateOf(contender, each.request()));
    }

    private static boolean isList(Arrival arrival) {
        return arrival.request() != null && arrival.request().kind() == RequestKind.LIST;
    }

    /** Adds how a waiter awaits the deletion of a node that the leader has deleted. */
    private static void addAwaited(ZooKeeperWorld world, Queued queued, ModelledClient client, Set<String> present) {
        for (Predecessor awaited : queued.queue().nearest()) {
            String path = awaited.path();
            boolean isDeleted = !world.servers.leaderTree().nodes().containsKey(path);
            if (isDeleted && world.servers.get(client.server).model.watches().containsKey(path)) {
                present.add("waits for a deleted node at a "
                        + (world.servers.isCutOff(client.server) ? "cut-off leader" : "follower"));
            } else if (isDeleted
                    && awaited.watch() != WatchedQueue.NEVER
                    && !client.watches.contains(path)
                    && !world.servers.get(client.server).tree().nodes().containsKey(path)) {
                present.add("an event is lost with its watch");
            }
        }
    }
}
