// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.etcd.EtcdStore;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Checks the rules in each {@link EtcdWorld}, and names the situations that are present in it. */
final class EtcdChecks {
    /** The waiter was woken by a watch that has ended since. */
    private static final String REOPENED = "watch opened again";

    private EtcdChecks() {}

    /** Returns what is wrong in this world: the rule and what breaks it; empty if nothing is. */
    static Optional<String> violation(EtcdWorld world) {
        if (world.broken.isPresent()) {
            return world.broken;
        }
        List<Integer> believers = IntStream.range(0, world.contenders.size())
                .filter(world::believes)
                .boxed()
                .toList();
        if (believers.size() > 1) {
            return Optional.of("S01: contenders " + believers + " hold the lock");
        }
        if (believers.size() == 1 && !world.scope.has(Flaw.HEAD_IS_NOT_CHECKED) && !isHead(world, believers.get(0))) {
            return Optional.of("S01: contender " + believers.get(0) + " holds the lock, and the queue is "
                    + world.cluster.queue());
        }
        return IntStream.range(0, world.contenders.size())
                .filter(i -> isKnownAfterEnd(world, i))
                .mapToObj(i -> "S10: contender " + i + " has ended, and its client still knows it")
                .findFirst()
                .or(() -> IntStream.range(0, world.contenders.size())
                        .filter(i -> isUnawareOfLoss(world, i))
                        .mapToObj(i -> "S07: the key of contender " + i + " was deleted, and nothing will tell it")
                        .findFirst())
                .or(() -> IntStream.range(0, world.contenders.size())
                        .filter(i -> isFencedDuringDelay(world, world.contenders.get(i)))
                        .mapToObj(i -> "S03: the fencing condition of contender " + i + " holds during its delay")
                        .findFirst())
                .or(() -> isFinal(world) ? leftover(world) : Optional.empty());
    }

    private static boolean isKnownAfterEnd(EtcdWorld world, int i) {
        ModelledSession session = world.sessionOf(i);
        return world.contenders.get(i).core == CorePhase.DONE
                && session != null
                && (session.knows(i) || world.contenders.get(i).deferredWatch);
    }

    /** Returns whether nothing will tell a holder that its key was deleted. While its watch is deferred, nothing has to yet. */
    private static boolean isUnawareOfLoss(EtcdWorld world, int i) {
        ModelledSession session = world.sessionOf(i);
        return holdsWithoutKey(world, i)
                && session != null
                && !world.contenders.get(i).deferredWatch
                && (session.watch == Watch.NONE || (session.upToDate && session.arriving.isEmpty()));
    }

    /** Returns whether a holder's key was deleted, but not its session, of whose end it hears. */
    private static boolean holdsWithoutKey(EtcdWorld world, int i) {
        ModelledEtcdContender contender = world.contenders.get(i);
        ModelledSession session = world.sessionOf(i);
        return contender.core == CorePhase.HOLDING
                && session != null
                && !session.deadlinePassed
                && world.cluster.hasKeyOf(session)
                && world.cluster.store.createRevision(contender.key) != contender.token;
    }

    private static boolean isFencedDuringDelay(EtcdWorld world, ModelledEtcdContender contender) {
        EtcdStore.Entry entry = world.cluster.store.keys().get(contender.key);
        return entry != null
                && ModelledEtcdCluster.isDelay(entry.lease())
                && contender.token
                        == (world.scope.has(Flaw.FENCING_BY_CREATION) ? entry.createRevision() : entry.modRevision());
    }

    private static Optional<String> leftover(EtcdWorld world) {
        if (!world.cluster.queue().isEmpty()) {
            return Optional.of("S08: all contenders have ended, and the queue has " + world.cluster.queue());
        }
        return world.clients.stream()
                .map(client -> client.session)
                .filter(session -> !session.ended && session.removals != 0)
                .map(session -> "S17: all contenders have ended, and removals are counted: " + session.removals)
                .findFirst(); // the first slot of a contender that had to change it stays reserved
    }

    private static boolean isHead(EtcdWorld world, int i) {
        ModelledEtcdContender contender = world.contenders.get(i);
        return world.cluster
                .head()
                .filter(head ->
                        head.createRevision() == contender.token && head.value().equals(contender.record))
                .isPresent();
    }

    /** Returns whether all contenders are done, and all that happens in the end has happened. */
    static boolean isFinal(EtcdWorld world) {
        return world.contenders.stream().allMatch(each -> each.core == CorePhase.DONE)
                && world.cluster.strays.isEmpty()
                && world.cluster.store.leases().stream().noneMatch(ModelledEtcdCluster::isDelay)
                && world.clients.stream()
                        .allMatch(client -> client.sent.isEmpty()
                                && client.replies.isEmpty()
                                && client.session.watch == Watch.NONE
                                && (client.session.ended
                                        || (!client.session.deadlinePassed && world.cluster.hasKeyOf(client.session))))
                && world.cluster.store.leases().stream()
                        .allMatch(lease ->
                                world.cluster.sessionOf(lease).lease == lease && !world.cluster.sessionOf(lease).ended);
    }

    /** Returns the names of the situations that are present. */
    static List<String> situations(EtcdWorld world) {
        TreeSet<String> present = new TreeSet<>();
        for (ModelledEtcdContender each : world.contenders) {
            present.add(each.protocol.phase().getClass().getSimpleName());
            addIf(each.core == CorePhase.HOLDING, "held", present);
            addIf(each.gaveUp && each.core == CorePhase.DONE, "given up", present);
            addIf(each.incarnation > 0, "displaced", present);
            addIf(each.cleansUp, "cleaned up", present);
            addIf(each.abandoned, "abandoned", present);
            addIf(each.protocol.mayHaveKey(), "put by a full store", present);
            boolean isQueued = each.protocol.phase() instanceof EtcdContenderState.Queued;
            addIf(isQueued && !each.waits(), "queued without waiting", present);
            addIf(
                    isQueued && each.woken && world.clients.get(each.client).session.watch == Watch.OPENING,
                    REOPENED,
                    present);
        }
        addIf(
                IntStream.range(0, world.contenders.size()).anyMatch(i -> holdsWithoutKey(world, i)),
                "held after the deletion of its key",
                present);
        for (ModelledEtcdClient client : world.clients) {
            boolean exists = world.cluster.hasKeyOf(client.session);
            addIf(client.session.ended && exists, "session ended before its deletion", present);
            addIf(!client.session.ended && !client.session.deadlinePassed && !exists, "session deleted early", present);
        }
        boolean isUnremoved = present.contains("Unremoved");
        addIf(isUnremoved && present.contains(REOPENED), "watch and reply lost", present);
        addIf(
                world.clients.size() > 1
                        && IntStream.range(0, world.clients.size()).allMatch(client -> isInDoubt(world, client)),
                "all clients in doubt",
                present);
        addIf(world.clients.stream().anyMatch(client -> client.session.epoch > 1), "new epoch", present);
        addIf(world.clients.stream().anyMatch(client -> client.session.series > 0), "new key series", present);
        return List.copyOf(present);
    }

    private static boolean isInDoubt(EtcdWorld world, int client) {
        return world.contenders.stream()
                .anyMatch(
                        each -> each.client == client && each.protocol.inDoubt().mayStillExecute());
    }

    private static void addIf(boolean isPresent, String name, Set<String> present) {
        if (isPresent) {
            present.add(name);
        }
    }
}
