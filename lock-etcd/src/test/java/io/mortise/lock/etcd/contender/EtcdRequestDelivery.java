// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.contender.EtcdContenderEvent.Execution;
import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdTraffic.Reply;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.etcd.contender.ModelledRequest.Kind;
import io.mortise.lock.etcd.contender.ModelledRequest.Origin;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.etcd.EtcdStore;
import io.mortise.lock.explorer.etcd.EtcdStore.Outcome;
import io.mortise.lock.explorer.etcd.EtcdStore.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Executes requests in a draft of an {@link EtcdWorld}, and delivers their replies and failures to the contenders. */
final class EtcdRequestDelivery {
    private static final List<Throwable> FAILURE = List.of(new BackendUnavailableException("as planned"));

    private EtcdRequestDelivery() {}

    static Reply execute(EtcdWorld world, Sent sent) {
        ModelledRequest request = sent.request();
        if (request == null) {
            if (sent.grant() > 0) {
                world.cluster.store = world.cluster.store.withLease(sent.grant());
            }
            return new Reply(sent, Optional.empty(), sent.grant() > 0 ? null : world.cluster.readQueue(), 0, false);
        }
        Origin from = request.from();
        EtcdStore.Entry before = world.cluster.store.keys().get(from.key());
        boolean hadSession = world.cluster.store.keys().containsKey(from.sessionKey());
        Outcome outcome = world.cluster.apply(world.cluster.transaction(request));
        boolean changed =
                before != null && !before.equals(world.cluster.store.keys().get(from.key()));
        boolean isOwn = before != null && before.value().equals(from.record());
        if (changed && !isOwn) {
            world.broken = Optional.of("S05: " + sent + " has removed the key of another contender: " + before);
        }
        if (!hadSession && world.cluster.store.keys().containsKey(from.sessionKey())) {
            world.broken = Optional.of("S08: " + sent + " has put the key of a session that has ended");
        }
        long token = world.contenders.get(sent.contender()).token;
        boolean removed = before != null && changed && isOwn && (token == 0 || token == before.createRevision());
        return new Reply(sent, outcome.result(), null, sent.isPut() ? world.cluster.store.revision() : 0, removed);
    }

    static void receive(EtcdWorld world, int at, Reply reply) {
        ModelledEtcdClient client = world.clients.get(at);
        Sent to = reply.to();
        if (to.contender() < 0) {
            world.notifying(notify ->
                    client.session.refreshed(Objects.requireNonNull(reply.read()), ModelledEtcdCluster.LOCK, notify));
            return;
        }
        ModelledEtcdContender contender = world.contenders.get(to.contender());
        contender.removed = reply.removed() && contender.core == CorePhase.ENDING;
        ModelledRequest request = to.request();
        if (request == null) {
            deliver(world, to, new EtcdContenderEvent.LeaseGranted(to.grant()));
            return;
        }
        Optional<Long> epoch = reply.result().flatMap(request::epoch);
        if (reply.result().isEmpty() || epoch.equals(Optional.of(0L))) { // a lease or the session does not exist
            if (request.kind() != Kind.MOVE) {
                world.endSessionOf(to.contender());
            }
            fail(world, to, Execution.AT_ANY_TIME);
            return;
        }
        ModelledSession session = world.sessionOf(to.contender());
        if (session != null) {
            session.epoch = Math.max(session.epoch, epoch.orElse(0L));
        }
        Result result = reply.result().get();
        boolean isFlawed = request.kind() == Kind.WITHDRAW && world.scope.has(Flaw.WITHDRAWAL_OF_ANY_KEY);
        deliver(
                world,
                to,
                isFlawed
                        ? new EtcdContenderEvent.Removed(result.parts().get(0).succeeded())
                        : request.event(result, reply.revision(), world.epoch(to.contender())));
    }

    static void fail(EtcdWorld world, Sent sent, Execution execution) {
        deliver(
                world,
                sent,
                sent.isAcquire()
                        ? new EtcdContenderEvent.AcquireFailed(execution, FAILURE.get(0))
                        : new EtcdContenderEvent.RemovalFailed(FAILURE.get(0)));
    }

    private static void deliver(EtcdWorld world, Sent to, EtcdContenderEvent event) {
        if (world.contenders.get(to.contender()).incarnation == to.incarnation()) {
            world.feed(to.contender(), event);
        }
    }

    static void cut(EtcdWorld world, int at) {
        ModelledEtcdClient client = world.clients.get(at);
        List<Sent> failed = new ArrayList<>(client.sent);
        world.cluster.strays.addAll(client.sent);
        client.replies.forEach(reply -> failed.add(reply.to()));
        client.sent.clear();
        client.replies.clear();
        if (client.session.watch != Watch.NONE) {
            world.loseWatch(at);
        }
        failed.stream().filter(sent -> sent.contender() >= 0).forEach(sent -> fail(world, sent, Execution.AT_ANY_TIME));
    }
}
