// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree;
import io.mortise.lock.explorer.zookeeper.ZooKeeperTree.Delete;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Creating;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Listing;
import io.mortise.lock.zookeeper.queue.ZooKeeperContenderState.Phase;
import io.mortise.lock.zookeeper.queue.ZooKeeperScope.Fault;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Request;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.RequestKind;
import io.mortise.lock.zookeeper.queue.ZooKeeperTraffic.Stray;
import java.util.ArrayList;
import java.util.List;

/** All that can happen next in a {@link ZooKeeperWorld}, faults included. */
final class ZooKeeperSteps {
    private final ZooKeeperWorld world;
    private final Steps<ZooKeeperWorld, ZooKeeperWorld, Fault> steps;

    private ZooKeeperSteps(ZooKeeperWorld world) {
        this.world = world;
        this.steps = new Steps<>(
                world.faults, () -> new ZooKeeperWorld(world), ZooKeeperWorld::spendFault, ZooKeeperWorld::settled);
    }

    static List<Step<ZooKeeperWorld>> of(ZooKeeperWorld world) {
        ZooKeeperSteps next = new ZooKeeperSteps(world);
        for (int i = 0; i < world.contenders.size(); i++) {
            next.stepsOfCore(i);
        }
        for (int i = 0; i < world.clients.size(); i++) {
            next.stepsOfClient(i);
            next.stepsOfSession(i);
        }
        next.stepsOfServers();
        return next.steps.all();
    }

    private void stepsOfCore(int i) {
        ModelledContender contender = world.contenders.get(i);
        String who = "contender " + i + " ";
        contender.core.addSteps(i, contender.woken, world.scope.givingUp() && !contender.gaveUp, steps);
        if (contender.core == CorePhase.ATTEMPTING || contender.core == CorePhase.ENDING) {
            steps.fault(Fault.SLOW_RESPONSE, () -> who + "has no response in time", next -> next.timeOut(i));
        }
        if (isSendingCreate(i)) {
            steps.fault(
                    Fault.EXCEPTION, () -> who + "sends its create, and has an exception", next -> next.failCreate(i));
        }
        if (contender.core == CorePhase.END_FAILED) {
            steps.fault(
                    Fault.DEADLINE,
                    () -> who + "is abandoned",
                    next -> next.feed(i, new ZooKeeperContenderEvent.Abandon()));
        }
        if (contender.deferredWatch) {
            steps.add(() -> who + "has held the lock for long", Kind.OPTIONAL, next -> {
                next.contenders.get(i).deferredWatch = false;
                next.feed(i, new ZooKeeperContenderEvent.WatchDue(next.clients.get(contender.client).connection));
            });
        }
        if (contender.unsentList != null) {
            steps.progress(() -> who + "goes on and sends its list", next -> next.sendList(i));
        }
    }

    /**
     * Returns whether a create, with the list that belongs to it, is the last that the contender's client has sent, or that list alone,
     * since another thread has brought the response to the create.
     */
    private boolean isSendingCreate(int i) {
        List<Request> sent = world.clients.get(world.contenders.get(i).client).sent;
        Phase phase = world.contenders.get(i).protocol.phase();
        if (sent.isEmpty() || sent.get(sent.size() - 1).contender() != i) {
            return false;
        }
        Request last = sent.get(sent.size() - 1);
        return last.paired()
                ? phase instanceof Listing || (phase instanceof Creating && sent.size() > 1)
                : last.kind() == RequestKind.CREATE_WITH_LOCK_NODE && phase instanceof Creating;
    }

    private void stepsOfClient(int i) {
        ModelledClient client = world.clients.get(i);
        String who = "client " + i;
        if (client.lockNodeUnused && !client.ended) {
            steps.progress(() -> who + " deletes the unused lock node", next -> {
                next.clients.get(i).lockNodeUnused = false;
                next.send(i, new Request(RequestKind.DELETE_LOCK_NODE, -1, 0, ZooKeeperWorld.LOCK, false));
            });
        }
        if (client.ended) {
            return;
        }
        if (!client.connected) {
            if (world.servers.openSessions.contains(client.session)) {
                for (int server = 0; server < world.servers.all.size(); server++) {
                    stepsOfReconnect(i, server);
                }
            }
            return;
        }
        if (!client.sent.isEmpty() && !world.servers.isBlocked(i)) {
            steps.progress(
                    () -> "server " + client.server + " executes " + client.sent.get(0), next -> next.execute(i));
        }
        if (!client.arriving.isEmpty()) {
            steps.progress(() -> who + " receives " + client.arriving.get(0), next -> {
                next.receive(i, next.clients.get(i).arriving.remove(0));
            });
        }
        steps.fault(Fault.CUT, () -> "the connection of " + who + " is cut", next -> next.cut(i));
    }

    /** A follower without a client applies what it lags behind when a client connects, or some of it. */
    private void stepsOfReconnect(int i, int server) {
        stepsOfReconnectNow(i, server);
        if (!world.servers.hasClient(server) && !world.servers.isCutOff(server)) {
            ZooKeeperWorld ahead = new ZooKeeperWorld(world);
            while (!ahead.servers.get(server).backlog.isEmpty()) {
                ahead.servers.apply(server, ahead.servers.get(server).backlog.remove(0));
                ZooKeeperSteps more = new ZooKeeperSteps(ahead);
                more.stepsOfReconnectNow(i, server);
                steps.all().addAll(more.steps.all());
            }
        }
    }

    private void stepsOfReconnectNow(int i, int server) {
        ModelledClient client = world.clients.get(i);
        ZooKeeperTree tree = world.servers.get(server).tree();
        boolean knowsSession =
                !world.servers.isCutOff(server) || world.servers.sessionsOfOldLeader.contains(client.session);
        if (tree.zxid() < client.lastZxid || !knowsSession) {
            return; // the server refuses clients that have seen more than it has
        }
        String label = "client " + i + " connects to server " + server + " after transaction " + tree.zxid();
        List<String> deleted = world.servers.get(server).model.missed(client.watches);
        for (List<String> order : orders(deleted)) {
            steps.progress(() -> label + ", which reports " + order, next -> next.reconnect(i, server, order));
        }
        if (world.scope.possible().contains(Fault.WATCHES_FORGOTTEN) && !client.watches.isEmpty()) {
            steps.progress(() -> label + " without its watches", next -> {
                next.clients.get(i).watches.clear();
                next.reconnect(i, server, List.of());
            });
        }
    }

    /** Returns all orders of a list. */
    private static List<List<String>> orders(List<String> list) {
        if (list.size() < 2) {
            return List.of(list);
        }
        List<List<String>> all = new ArrayList<>();
        for (String first : list) {
            List<String> others =
                    list.stream().filter(each -> !each.equals(first)).toList();
            for (List<String> rest : orders(others)) {
                List<String> order = new ArrayList<>(List.of(first));
                order.addAll(rest);
                all.add(order);
            }
        }
        return all;
    }

    private void stepsOfSession(int i) {
        ModelledClient client = world.clients.get(i);
        if (!client.deadlinePassed && !client.ended) {
            steps.fault(
                    Fault.DEADLINE,
                    () -> "the deadline of client " + i + " passes",
                    next -> next.clients.get(i).deadlinePassed = true);
        }
        if (client.deadlinePassed && !client.ended) {
            steps.progress(() -> "client " + i + " ends its session", next -> next.endSession(i));
        }
    }

    private void stepsOfServers() {
        for (long session : world.servers.openSessions) {
            int i = (int) (session / 10);
            ModelledClient client = world.clients.get(i);
            boolean outdated = client.session != session || client.deadlinePassed || client.ended;
            boolean early = !world.scope.variant().provesSessions() && world.faults.allows(Fault.DEADLINE);
            if (outdated || early) {
                List<Boolean> orders = world.servers.leaderTree().nodes().values().stream()
                                        .filter(each -> each.owner() == session)
                                        .count()
                                > 1
                        ? List.of(false, true)
                        : List.of(false);
                for (boolean reversed : orders) {
                    String label = "the server closes session " + session + (reversed ? ", in reverse" : "");
                    if (outdated) {
                        steps.progress(() -> label, next -> next.servers.closeSession(session, reversed));
                    } else {
                        steps.fault(Fault.DEADLINE, () -> label, next -> next.servers.closeSession(session, reversed));
                    }
                }
            }
        }
        for (int i = 1; i < world.servers.all.size(); i++) {
            int follower = i;
            if (!world.servers.get(i).backlog.isEmpty() && world.servers.hasClient(i) && !world.servers.isCutOff(i)) {
                steps.progress(
                        () -> "the follower applies "
                                + world.servers.get(follower).backlog.get(0),
                        next -> {
                            next.servers.apply(
                                    follower, next.servers.get(follower).backlog.remove(0));
                        });
            }
        }
        stepsOfElections();
        for (int i = 0; i < world.servers.strays.size(); i++) {
            Stray stray = world.servers.strays.get(i);
            boolean isFirst =
                    world.servers.strays.subList(0, i).stream().noneMatch(each -> each.session() == stray.session());
            if (isFirst) {
                int index = i;
                steps.add(() -> "the leader executes " + stray + " of a lost connection", Kind.OPTIONAL, next -> {
                    next.servers.strays.remove(index);
                    next.servers.commit(
                            ModelledServers.write(stray.request(), stray.session()),
                            stray.client(),
                            stray.session(),
                            -1,
                            null);
                });
                steps.progress(() -> stray + " is lost with its connection", next -> next.servers.strays.remove(index));
            }
        }
        List<String> queue = world.faults.allows(Fault.OPERATOR) ? world.servers.queue() : List.of();
        for (int position = 0; position < queue.size(); position++) {
            String name = queue.get(position);
            boolean isHead = position == 0;
            steps.fault(Fault.OPERATOR, () -> "an operator deletes " + name, next -> {
                ModelledContender owner = next.contenders.get(contenderOf(name));
                owner.revoked |= isHead && owner.owns(name);
                next.servers.commit(new Delete(ZooKeeperWorld.LOCK + "/" + name), -1, 0, -1, null);
            });
        }
    }

    private void stepsOfElections() {
        if (world.servers.isCutOff(1)) {
            steps.progress(() -> "the cut-off leader steps down", ZooKeeperWorld::oldLeaderStepsDown);
            return;
        }
        steps.fault(Fault.ELECTION, () -> "the servers elect a leader", next -> next.electLeader(false));
        // Syncs, too, wait for transactions that the old leader has proposed and that no other has confirmed to it.
        if (world.servers.all.size() > 1 && world.servers.get(1).backlog.isEmpty()) {
            steps.fault(
                    Fault.LEADER_CUT_OFF,
                    () -> "the servers elect a leader, of which server 1, which is cut off, does not hear",
                    next -> next.electLeader(true));
        }
    }

    private static int contenderOf(String name) {
        return name.charAt(name.indexOf('#') + 1) - '0';
    }
}
