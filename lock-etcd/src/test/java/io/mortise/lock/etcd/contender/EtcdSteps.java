// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdScope.Fault;
import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdTraffic.Reply;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.explorer.etcd.EtcdStore;
import java.util.List;

/** All that can happen next in an {@link EtcdWorld}, faults included. */
final class EtcdSteps {
    private final EtcdWorld world;
    private final Steps<EtcdWorld, EtcdWorld, Fault> steps;

    private EtcdSteps(EtcdWorld world) {
        this.world = world;
        this.steps = new Steps<>(
                world.faults, () -> new EtcdWorld(world), EtcdWorld::spendFault, EtcdWorld::withoutEffectless);
    }

    static List<Step<EtcdWorld>> of(EtcdWorld world) {
        EtcdSteps next = new EtcdSteps(world);
        for (int i = 0; i < world.contenders.size(); i++) {
            next.stepsOfCore(i);
        }
        for (int i = 0; i < world.clients.size(); i++) {
            next.stepsOfRequests(i);
            next.stepsOfWatch(i);
            next.stepsOfSession(i);
        }
        next.stepsOfStore();
        return next.steps.all();
    }

    private void stepsOfCore(int i) {
        ModelledEtcdContender contender = world.contenders.get(i);
        String who = "contender " + i + " ";
        contender.core.addSteps(i, contender.woken, world.scope.givingUp() && !contender.gaveUp, steps);
        if (contender.core == CorePhase.END_FAILED) {
            if (contender.kind == 'd' && contender.token != 0) {
                steps.progress(() -> who + "ends again with a delay", next -> next.end(i, true));
            }
            steps.fault(Fault.DEADLINE, () -> who + "is abandoned", next -> {
                next.contenders.get(i).abandoned = true;
                next.feed(i, new EtcdContenderEvent.Abandon());
            });
        }
        if (contender.deferredWatch) {
            steps.add(() -> who + "has held the lock for long", Kind.OPTIONAL, next -> {
                next.contenders.get(i).deferredWatch = false;
                next.feed(i, new EtcdContenderEvent.WatchDue());
            });
        }
        if (contender.awaitsSession && !world.cluster.store.leases().contains(contender.lease)) {
            steps.progress(() -> who + "learns that its session was deleted", next -> {
                next.contenders.get(i).awaitsSession = false;
                next.feed(i, new EtcdContenderEvent.SessionRemoved());
            });
        }
    }

    private void stepsOfRequests(int at) {
        ModelledEtcdClient client = world.clients.get(at);
        for (int i = 0; i < client.sent.size(); i++) {
            int index = i;
            Sent sent = client.sent.get(i);
            steps.progress(() -> "the store executes " + sent, next -> {
                next.clients.get(at).sent.remove(index);
                next.clients.get(at).replies.add(EtcdRequestDelivery.execute(next, sent));
            });
            if (sent.contender() >= 0 && world.isAwaited(sent)) {
                steps.fault(sent.noReply(world.scope.possible()), () -> "no reply in time to " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    next.cluster.strays.add(sent);
                    EtcdRequestDelivery.fail(next, sent, Execution.AT_ANY_TIME);
                });
            }
            if (sent.isPut()) {
                steps.fault(Fault.FULL, () -> "the store is full after it has executed " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    EtcdRequestDelivery.execute(next, sent);
                    EtcdRequestDelivery.fail(next, sent, Execution.DONE_OR_NEVER);
                });
                steps.fault(Fault.FULL, () -> "the store is full and does not execute " + sent, next -> {
                    next.clients.get(at).sent.remove(index);
                    EtcdRequestDelivery.fail(next, sent, Execution.DONE_OR_NEVER);
                });
            }
        }
        for (int i = 0; i < client.replies.size(); i++) {
            int index = i;
            Reply reply = client.replies.get(i);
            steps.progress(() -> "client " + at + " receives the reply to " + reply.to(), next -> {
                next.clients.get(at).replies.remove(index);
                EtcdRequestDelivery.receive(next, at, reply);
            });
            if (reply.to().contender() >= 0) {
                steps.fault(Fault.NO_REPLY, () -> "the reply is lost: " + reply.to(), next -> {
                    next.clients.get(at).replies.remove(index);
                    EtcdRequestDelivery.fail(next, reply.to(), Execution.AT_ANY_TIME);
                });
            }
        }
        steps.fault(
                Fault.CUT,
                () -> "the connection of client " + at + " is cut",
                next -> EtcdRequestDelivery.cut(next, at));
    }

    private void stepsOfWatch(int at) {
        ModelledSession session = world.clients.get(at).session;
        if (session.watch == Watch.OPENING) {
            steps.progress(() -> "the watch of client " + at + " is registered", next -> next.registerWatch(at));
        }
        if (!session.arriving.isEmpty()) {
            steps.progress(() -> "client " + at + " receives an event", next -> {
                ModelledSession receiving = next.clients.get(at).session;
                List<EtcdStore.Event> events = receiving.arriving.remove(0);
                next.notifying(notify -> receiving.changed(events, notify));
            });
        }
        if (session.watch != Watch.NONE && !session.hasMembers()) {
            steps.progress(
                    () -> "client " + at + " closes the unused watch",
                    next -> next.clients.get(at).endWatch(false));
        }
        if (session.watch == Watch.REGISTERED) {
            steps.fault(Fault.WATCH_LOST, () -> "the watch of client " + at + " ends", next -> next.loseWatch(at));
        }
    }

    private void stepsOfSession(int at) {
        ModelledSession session = world.clients.get(at).session;
        if (session.ended) {
            return;
        }
        if (!session.deadlinePassed && mayFail(at)) {
            steps.fault(
                    Fault.DEADLINE,
                    () -> "the deadline of client " + at + " passes",
                    next -> next.clients.get(at).session.deadlinePassed = true);
        }
        if (session.deadlinePassed || !world.cluster.hasKeyOf(session)) {
            steps.progress(() -> "client " + at + " ends its session", next -> next.endSession(at));
        }
    }

    /** If two clients are alike, what happens to the session of the second one is what happens to that of the first one. */
    private boolean mayFail(int client) {
        boolean areAlike = world.scope.clientOfContender().equals(List.of(0, 1))
                && world.scope.kinds().charAt(0) == world.scope.kinds().charAt(1)
                && world.faults.left() == world.scope.faults();
        return client == 0 || !areAlike;
    }

    private void stepsOfStore() {
        if (world.clients.size() > 1) { // with one it is a lost connection
            steps.fault(Fault.RESTART, () -> "the store restarts", next -> {
                for (int at = 0; at < next.clients.size(); at++) {
                    EtcdRequestDelivery.cut(next, at);
                }
            });
        }
        for (long lease : world.cluster.store.leases()) {
            if (ModelledEtcdCluster.isDelay(lease)) {
                boolean isMoving = world.clients.stream()
                        .flatMap(client -> client.sent.stream())
                        .anyMatch(sent -> sent.request() != null
                                && sent.request().kind() == ModelledRequest.Kind.MOVE
                                && sent.request().number() == lease);
                boolean isAwaited = world.contenders.stream()
                        .anyMatch(each -> each.protocol.phase() instanceof EtcdContenderState.LeasingDelay);
                if (!isMoving && !isAwaited) { // a delay is longer than a request
                    steps.progress(() -> "the delay of lease " + lease + " ends", next -> next.cluster.endLease(lease));
                }
                continue;
            }
            ModelledSession session = world.cluster.sessionOf(lease);
            boolean outdated = session.lease != lease || session.deadlinePassed || session.ended;
            String label = "the store deletes session " + lease;
            if (outdated) {
                steps.progress(() -> label, next -> next.cluster.endLease(lease));
                continue;
            }
            if (world.scope.has(Flaw.SESSION_ENDS_EARLY)) {
                steps.fault(Fault.DEADLINE, () -> label, next -> next.cluster.endLease(lease));
            }
            if (!mayFail((int) (lease / 10))) {
                continue;
            }
            steps.fault(Fault.REVOKED, () -> "an operator revokes lease " + lease, next -> {
                next.revokeHead(entry -> entry.lease() == lease);
                next.cluster.endLease(lease);
            });
            if (world.cluster.hasKeyOf(session)) {
                steps.fault(
                        Fault.REVOKED,
                        () -> "an operator deletes the key of session " + lease,
                        next -> next.cluster.delete(session.key()));
            }
        }
        for (int i = 0; i < world.cluster.strays.size(); i++) {
            int index = i;
            Sent stray = world.cluster.strays.get(i);
            steps.add(() -> "the store executes late: " + stray, Kind.OPTIONAL, next -> {
                EtcdRequestDelivery.execute(next, next.cluster.strays.remove(index));
            });
            steps.progress(() -> "never executed: " + stray, next -> next.cluster.strays.remove(index));
        }
        for (String key : world.cluster.queue()) {
            steps.fault(Fault.OPERATOR, () -> "an operator deletes " + key, next -> {
                EtcdStore.Entry deleted = next.cluster.store.keys().get(key);
                next.revokeHead(entry -> entry.equals(deleted));
                next.cluster.delete(key);
            });
        }
    }
}
