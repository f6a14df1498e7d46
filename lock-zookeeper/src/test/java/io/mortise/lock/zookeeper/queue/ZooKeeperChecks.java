// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.explorer.CorePhase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

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
        return !queue.isEmpty()
                && queue.get(0)
                        .startsWith(ContenderNode.prefix(
                                ModelledContender.attemptId(i, world.contenders.get(i).incarnation)));
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
            if (contender.gaveUp && contender.core == CorePhase.DONE) {
                present.add("given up");
            }
            if (contender.incarnation > 0) {
                present.add("displaced");
            }
        }
        if (world.servers.areEmptyAgain()) {
            present.add("no lock node again");
        }
        return List.copyOf(present);
    }
}
