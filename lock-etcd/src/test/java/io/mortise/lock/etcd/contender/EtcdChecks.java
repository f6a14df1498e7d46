// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.CorePhase;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Checks the rules in each {@link EtcdWorld}, and names the situations that are present in it. */
final class EtcdChecks {
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
                .or(() -> isFinal(world) ? leftover(world) : Optional.empty());
    }

    private static boolean isKnownAfterEnd(EtcdWorld world, int i) {
        ModelledSession session = world.sessionOf(i);
        return world.contenders.get(i).core == CorePhase.DONE
                && session != null
                && (session.knows(i) || world.contenders.get(i).deferredWatch);
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
        }
        addIf(world.clients.stream().anyMatch(client -> client.session.epoch > 1), "new epoch", present);
        addIf(world.clients.stream().anyMatch(client -> client.session.series > 0), "new key series", present);
        return List.copyOf(present);
    }

    private static void addIf(boolean isPresent, String name, Set<String> present) {
        if (isPresent) {
            present.add(name);
        }
    }
}
