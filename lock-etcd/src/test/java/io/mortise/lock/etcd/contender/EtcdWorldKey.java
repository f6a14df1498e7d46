// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.etcd.EtcdStore;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/** The key of a world: equal for worlds from which the same can happen, also if they differ only in which of two equal contenders is which. */
final class EtcdWorldKey {
    private EtcdWorldKey() {}

    static void describe(EtcdWorld world, StateKey key) {
        key.list(world.cluster.store.keys().entrySet(), EtcdWorldKey::describe).numbers(world.cluster.store.leases());
        NavigableSet<Long> revisions = revisions(world);
        for (ModelledEtcdClient client : world.clients) {
            client.session.describe(key.value("\nclient"), revisions);
            key.value(" sent").unordered(client.sent, (into, sent) -> sent.describe(into, hasKnownOrigin(world, sent)));
            key.value(" replies").unordered(client.replies, (into, reply) -> reply.describe(into));
        }
        key.value("\nlate").unordered(world.cluster.strays, (into, sent) -> sent.describe(into, false));
        key.number(world.faults.left())
                .number(revisions.headSet(world.highestToken, true).size());
        key.participants(
                world.contenders.size(), (view, i) -> describe(world.contenders.get(i), view), (details, i) -> {
                    ModelledEtcdContender contender = world.contenders.get(i);
                    describe(contender.protocol, details);
                    details.number(contender.token).value(contender.key);
                    details.number(contender.revision).number(contender.lease);
                });
    }

    /** Returns the revisions of keys that exist or may be granted: only how others compare with them counts. */
    private static NavigableSet<Long> revisions(EtcdWorld world) {
        TreeSet<Long> revisions = new TreeSet<>();
        world.cluster.queue().forEach(key -> revisions.add(world.cluster.store.createRevision(key)));
        world.contenders.forEach(each -> revisions.add(each.revision));
        world.clients.forEach(client -> client.replies.forEach(reply -> revisions.add(reply.revision())));
        return revisions;
    }

    private static boolean hasKnownOrigin(EtcdWorld world, Sent sent) {
        return sent.request() == null
                || (world.isAwaited(sent)
                        && sent.request().from().key().equals(world.contenders.get(sent.contender()).key));
    }

    private static void describe(EtcdContenderState state, StateKey key) {
        key.value(state.phase());
        key.flags(state.mayHaveKey());
        key.number(state.inDoubt().mayStillExecute() ? state.inDoubt().highestEpoch() : -1);
    }

    private static void describe(StateKey key, Map.Entry<String, EtcdStore.Entry> each) {
        EtcdStore.Entry entry = each.getValue();
        key.value(each.getKey()).value(entry.value()).number(entry.createRevision());
        key.number(entry.lease()).number(each.getKey().startsWith(ModelledEtcdCluster.LOCK) ? 0 : entry.version());
    }

    /** Describes what makes a contender differ from the others, without names and revisions. */
    private static void describe(ModelledEtcdContender contender, StateKey key) {
        key.value("\ncontender").number(contender.client).value(contender.kind).number(contender.incarnation);
        key.value(contender.protocol.phase().getClass()).value(contender.core);
        key.flags(
                contender.woken,
                contender.gaveUp,
                contender.revoked,
                contender.deferredWatch,
                contender.awaitsSession,
                contender.cleansUp,
                contender.abandoned,
                contender.removed);
    }
}
