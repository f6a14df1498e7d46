// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.World;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Cleanup;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Timer;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.VoteTally;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Checks what must hold in a {@link RedlockWorld}, and names what it shows. */
record RedlockWorldChecks(RedlockWorld world) {
    Optional<String> violation() {
        if (world.contenders.stream()
                        .filter(each -> each.token != 0 && !each.displaced)
                        .count()
                > 1) {
            return Optional.of("S01: two contenders hold the lock"); // before S03, which that breaks as well
        }
        if (world.broken.isPresent()) {
            return world.broken;
        }
        for (int c = 0; c < world.contenders.size(); c++) {
            for (int m = 0; m < world.masters.size(); m++) {
                boolean kept = world.contenders.get(c).masters.get(m).kept;
                if (kept && !world.masters.get(m).vote().startsWith(RedlockTraffic.keptVote(c))) {
                    return Optional.of(
                            "S05: a vote that contender " + c + " keeps for a delay is gone before it is over");
                }
            }
        }
        if (isWakeUpLost()) {
            return Optional.of("S11: the lock is free, and a contender waits that nothing will wake");
        }
        return world.isFinal() ? violationAtTheEnd() : Optional.empty();
    }

    private Optional<String> violationAtTheEnd() {
        for (int c = 0; c < world.contenders.size(); c++) {
            String id = RedlockTraffic.attemptId(c);
            String kept = RedlockTraffic.keptVote(c);
            boolean mayKeep = world.contenders.get(c).keptForGood;
            if (world.masters.stream()
                    .filter(master -> !mayKeep || !master.vote().startsWith(kept))
                    .anyMatch(master -> master.server.keys().toString().contains(id))) {
                return Optional.of("S08: contender " + c + " has ended, and a master still has something of it");
            }
        }
        boolean exhausted = world.contenders.stream()
                .anyMatch(each -> each.protocol.round() >= world.scope.rounds()
                        || each.protocol.splitRounds() >= RedlockContenderState.MOST_SPLIT_ROUNDS);
        if (world.scope.faults() == 0 && !world.scope.has(Option.GIVES_UP) && !world.everHeld && !exhausted) {
            return Optional.of("S09: each contender found the lock busy, and none held it");
        }
        return Optional.empty();
    }

    /**
     * Returns whether the contender has seen a holder, and only its fallback time leads on if nobody wakes it. That time is over when
     * the votes that it has seen have expired.
     */
    boolean awaitsWakeUp(RedlockContenderModel contender) {
        return contender.core == CorePhase.WAITING
                && !contender.woken
                && !world.expired
                && contender.protocol.splitRounds() == 0;
    }

    /**
     * Returns whether a contender awaits a wake-up while no other has the lock or acquires it, and nothing is on its way. One that
     * tries again after a failure does so later, and must not keep the others waiting.
     */
    private boolean isWakeUpLost() {
        Predicate<RedlockContenderModel> keepsNobodyWaiting = each -> each.core == CorePhase.NEW
                || each.core == CorePhase.RETRYING
                || each.displaced
                || each.core == CorePhase.DONE
                || awaitsWakeUp(each);
        return world.contenders.stream().anyMatch(this::awaitsWakeUp)
                && world.contenders.stream().allMatch(keepsNobodyWaiting.and(each -> each.timers.isEmpty()))
                && world.isQuiet()
                && world.isMajority(master -> master.votes() && master.vote().isEmpty());
    }

    List<String> situations() {
        Set<String> present = new TreeSet<>();
        for (int c = 0; c < world.contenders.size(); c++) {
            RedlockContenderModel contender = world.contenders.get(c);
            present.add(World.name(contender.protocol.phase()));
            note(present, contender.gaveUp && contender.core == CorePhase.DONE, "given up");
            note(present, contender.gaveUp && contender.overdue, "given up, overdue");
            note(
                    present,
                    contender.gaveUp
                            && contender.protocol.masters().stream()
                                    .anyMatch(each -> each.lost().anyLost()),
                    "given up, in doubt");
            note(present, holdsWithoutMajority(c), "held by a minority");
            note(present, isTakenBeforeDeletion(c), "taken before its deletion");
            note(present, awaitsLostHint(c), "hint lost");
            note(present, contender.masters.stream().anyMatch(each -> each.removalDue), "release repeated");
            note(present, contender.masters.stream().anyMatch(each -> each.cleanup != Cleanup.NONE), "cleanup");
            note(present, contender.keptForGood, "kept for a delay");
            note(present, contender.displaced, "displaced");
            note(present, contender.overdue, "overdue");
            note(present, contender.token != 0 && contender.grantedUntil.isBefore(contender.validUntil), "renewed");
            note(
                    present,
                    contender.masters.stream().anyMatch(RedlockContenderModel.AtMaster::isRecovered),
                    "recovered");
        }
        boolean quarantined = world.masters.stream().anyMatch(master -> !master.silent && !master.votes());
        note(present, world.masters.stream().anyMatch(master -> !master.stray.isEmpty()), "late");
        note(present, quarantined, "quarantined");
        note(present, !quarantined && world.now > RedlockWorld.START + RedlockDataLoss.QUARANTINE, "out of quarantine");
        return List.copyOf(present);
    }

    private boolean holdsWithoutMajority(int c) {
        String vote = RedlockTraffic.attemptId(c);
        return world.contenders.get(c).token != 0
                && !world.isMajority(master -> master.vote().startsWith(vote));
    }

    /**
     * Returns whether another has a vote of the contender's round that the next request of the contender would delete. The removal of
     * one that waits may follow a yield, which has deleted the vote.
     */
    private boolean isTakenBeforeDeletion(int c) {
        VoteTally votes = world.contenders.get(c).protocol.votes();
        boolean mayWait = world.contenders.get(c).protocol.mayWait();
        return IntStream.range(0, world.masters.size())
                .filter(m -> votes.of(m) instanceof MasterVote.Granted)
                .filter(m -> !world.masters.get(m).vote().isEmpty()
                        && !world.masters.get(m).vote().contains(RedlockTraffic.attemptId(c)))
                .boxed()
                .flatMap(m -> world.link(m, c).sent.stream()
                        .filter(request -> request.contender() == c)
                        .limit(1))
                .anyMatch(next ->
                        next.effect() instanceof SendYield || (!mayWait && next.effect() instanceof SendRemoval));
    }

    /** Returns whether the contender has the hint of one master that the lock is free, and that of another will not come. */
    private boolean awaitsLostHint(int c) {
        RedlockContenderModel contender = world.contenders.get(c);
        return awaitsWakeUp(contender)
                && contender.timers.contains(Timer.HINTS)
                && world.isQuiet()
                && world.isMajority(master -> master.votes() && master.vote().isEmpty());
    }

    private static void note(Set<String> present, boolean condition, String name) {
        if (condition) {
            present.add(name);
        }
    }
}
