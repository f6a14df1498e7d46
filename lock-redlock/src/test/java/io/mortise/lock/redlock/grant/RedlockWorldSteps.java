// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Cleanup;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Timer;
import io.mortise.lock.redlock.grant.RedlockMasterModel.Link;
import io.mortise.lock.redlock.grant.RedlockScope.Fault;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.grant.RedlockTraffic.Request;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Collects all that can happen next in a {@link RedlockWorld}. */
final class RedlockWorldSteps {
    private final RedlockWorld world;
    private final Steps<RedlockWorld, RedlockWorld, Fault> steps;

    private RedlockWorldSteps(RedlockWorld world) {
        this.world = world;
        this.steps = new Steps<>(
                world.faults, () -> new RedlockWorld(world), next -> next.faults = next.faults.spent(), next -> next);
    }

    static List<Step<RedlockWorld>> of(RedlockWorld world) {
        RedlockWorldSteps steps = new RedlockWorldSteps(world);
        steps.add();
        return steps.steps.all();
    }

    private void add() {
        for (int c = 0; c < world.contenders.size(); c++) {
            addOfCore(c, world.contenders.get(c));
        }
        for (int client = 0; client < world.scope.clients(); client++) {
            addCut(client);
        }
        boolean mayBecomeLate = false;
        boolean onlyRemovals = world.contenders.stream()
                .allMatch(each -> (each.core == CorePhase.ENDING && !each.delayed) || each.core == CorePhase.DONE);
        boolean removalChosen = false;
        for (int m = 0; m < world.masters.size(); m++) {
            boolean skipped =
                    onlyRemovals && removalChosen; // removals at several masters lead to the same in any order
            removalChosen |= world.masters.get(m).links.stream().anyMatch(link -> !link.sent.isEmpty());
            for (int c = 0; c < world.contenders.size(); c++) {
                RedlockContenderModel contender = world.contenders.get(c);
                if (!skipped) {
                    addCleanup(m, c);
                }
                mayBecomeLate |= contender.protocol.masters().get(m).lost().notAfter() >= world.now;
            }
            for (int client = 0; client < world.scope.clients() && !skipped; client++) {
                addOfLink(m, client);
            }
            addOfMaster(m, world.masters.get(m));
        }
        if (world.masters.stream().anyMatch(RedlockMasterModel::isForeign)) {
            steps.progress(() -> "the foreign holder releases", RedlockWorld::releaseForeign);
        }
        if (world.renewal.mayPassHalfLease()) {
            steps.add(() -> "half a lease passes", Kind.OPTIONAL, next -> next.renewal.passHalfLease());
        }
        if (mayBecomeLate) {
            steps.progress(() -> "time passes", next -> next.now += 2 * RedlockTraffic.REQUEST_TIMEOUT);
        }
    }

    // ---- the core

    private void addOfCore(int c, RedlockContenderModel contender) {
        String who = "contender " + c + " ";
        switch (contender.core) {
            case NEW -> addOfNew(c, who);
            case WAITING, RETRYING -> {
                boolean last = contender.protocol.round() >= world.scope.rounds();
                String what = last ? "gives up after its last round" : "tries again";
                steps.add(
                        () -> who + what + (contender.woken ? ", since it was woken" : " after its delay"),
                        new RedlockWorldChecks(world).awaitsWakeUp(contender) ? Kind.FALLBACK : Kind.PROGRESS,
                        last ? next -> next.end(c, false) : next -> next.attempt(c));
            }
            case HOLDING -> {
                steps.progress(() -> who + "releases", next -> next.end(c, false));
                if (world.renewal.mayRenew(contender)) {
                    steps.add(() -> who + "renews", Kind.OPTIONAL, next -> next.renewal.renew(c));
                }
                if (world.scope.has(Option.DELAYED_RELEASE)) {
                    steps.progress(() -> who + "releases with a delay", next -> next.end(c, true));
                }
                steps.fault(
                        Fault.FORCED_RELEASE,
                        () -> "an operator releases the lock of contender " + c,
                        next -> next.force(c));
            }
            case END_FAILED -> {
                steps.progress(() -> who + "ends again", next -> next.end(c, contender.delayed));
                if (contender.delayed) {
                    steps.progress(() -> who + "ends after its delay", next -> next.endAfterDelay(c));
                }
            }
            default -> {}
        }
        boolean mayGiveUp = contender.core.isAcquiring() && !contender.gaveUp;
        if (world.scope.has(Option.GIVES_UP) && mayGiveUp) {
            steps.add(() -> who + "gives up", Kind.OPTIONAL, next -> next.giveUp(c));
        }
        if (contender.counts() && !contender.overdue) {
            steps.fault(
                    Fault.DEADLINE,
                    () -> "the deadline of " + who + "passes",
                    next -> next.contenders.get(c).passDeadline());
            if (contender.masters.stream().anyMatch(each -> each.atRisk)) {
                steps.add(
                        () -> "the deadline of " + who + "passes",
                        Kind.FALLBACK,
                        next -> next.contenders.get(c).passDeadline());
            }
        }
        for (Timer timer : contender.timers) {
            steps.progress(() -> who + "timer " + timer, next -> next.fire(c, timer));
        }
        for (int i = 0; i < contender.masters.size(); i++) {
            int m = i;
            if (contender.masters.get(m).removalDue) {
                steps.progress(() -> who + "releases again at master " + m, next -> {
                    next.contenders.get(c).masters.get(m).removalDue = false;
                    next.feed(c, new RedlockContenderEvent.RemovalDue(m));
                });
            }
        }
    }

    private void addOfNew(int c, String who) {
        int client = world.scope.clientOf(c);
        boolean isConnected = world.isMajority(master -> master.links.get(client).eligible);
        if (world.scope.has(Option.ONE_CLIENT)
                && world.contenders.stream().anyMatch(each -> each.core.isAcquiring() && !each.gaveUp)) {
            return; // it waits in its client
        }
        if (isConnected || !world.scope.has(Option.QUARANTINE_ENDS)) {
            steps.progress(() -> who + "makes its first attempt", next -> next.attempt(c));
        } else {
            steps.progress(() -> who + "does not connect", next -> next.contenders.get(c).core = CorePhase.DONE);
        }
    }

    // ---- the connections

    private void addCleanup(int m, int c) {
        if (world.contenders.get(c).masters.get(m).cleanup == Cleanup.DUE) {
            steps.progress(() -> "cleanup of contender " + c + " at master " + m, next -> {
                next.contenders.get(c).masters.get(m).cleanup = Cleanup.RUNNING;
                next.feed(c, new RedlockContenderEvent.CleanupDue(m));
            });
        }
    }

    private void addOfLink(int m, int client) {
        Link link = world.masters.get(m).links.get(client);
        if (!link.eligible && world.scope.has(Option.QUARANTINE_ENDS) && !world.masters.get(m).silent) {
            addOfQuarantine(m, client, link);
        }
        if (link.sent.isEmpty()) {
            return;
        }
        Request first = link.sent.get(0);
        String where = " of contender " + first.contender() + " at master " + m;
        List<Request> others = RedlockWorld.without(link.sent, 0);
        steps.progress(() -> first + where, next -> {
            next.masters.get(m).links.get(client).sent = others;
            next.traffic.execute(m, first, first.awaited());
        });
        if (first.awaited() && !first.again()) {
            steps.fault(
                    Fault.UNKNOWN_SCRIPT,
                    () -> first + where + " is sent again",
                    next -> next.masters.get(m).links.get(client).sent = RedlockWorld.with(others, first.sentAgain()));
        }
        if (world.faults.allows(Fault.SLOW_REPLY)) {
            link.sent.stream()
                    .filter(Request::awaited)
                    .max(Comparator.comparing(Request::again)) // it was sent first
                    .ifPresent(oldest -> addSlowReply(m, client, link, oldest));
        }
        for (MonotonicInstant at : RedlockTraffic.failureTimes(link.sent)) {
            steps.fault(
                    Fault.LATE_EXECUTION,
                    () -> "lost connection of client " + client + " at master " + m + " at " + at,
                    next -> loseConnection(next, m, client, at));
        }
    }

    private void addCut(int client) {
        if (world.masters.stream()
                .anyMatch(master -> !master.links.get(client).sent.isEmpty())) {
            steps.fault(Fault.CUT, () -> "lost connections of client " + client, next -> {
                for (int m = 0; m < world.masters.size(); m++) {
                    loseConnection(next, m, client, RedlockWorld.LATER);
                }
            });
        }
    }

    private static void loseConnection(RedlockWorld next, int m, int client, MonotonicInstant at) {
        RedlockMasterModel master = next.masters.get(m);
        master.stray = Stream.concat(master.stray.stream(), master.links.get(client).sent.stream())
                .toList();
        next.traffic.loseConnection(m, client, at);
    }

    private void addSlowReply(int m, int client, Link link, Request oldest) {
        String where = " of contender " + oldest.contender() + " at master " + m;
        List<Request> sent = new ArrayList<>(link.sent);
        sent.set(sent.indexOf(oldest), oldest.givenUp());
        for (MonotonicInstant at : RedlockTraffic.failureTimes(List.of(oldest))) {
            steps.fault(Fault.SLOW_REPLY, () -> "no reply to " + oldest + where + " at " + at, next -> {
                next.masters.get(m).links.get(client).sent = List.copyOf(sent);
                next.traffic.fail(m, oldest, at);
            });
        }
    }

    private void addOfQuarantine(int m, int client, Link link) {
        String where = " of client " + client + " with master " + m;
        if (link.since == 0 || world.masters.get(m).votes()) {
            steps.progress(() -> "handshake" + where, next -> next.dataLoss.handshake(m, client));
        }
        if (world.dataLoss.mayEndQuarantine(m, client)) {
            steps.add(
                    () -> "end of the quarantine" + where,
                    Kind.FALLBACK,
                    next -> next.dataLoss.endQuarantine(m, client));
        }
    }

    // ---- the masters

    private void addOfMaster(int m, RedlockMasterModel master) {
        for (int i = 0; i < master.stray.size(); i++) {
            Request request = master.stray.get(i);
            List<Request> others = RedlockWorld.without(master.stray, i);
            steps.add(
                    () -> "late " + request + " of contender " + request.contender() + " at master " + m,
                    Kind.OPTIONAL,
                    next -> {
                        next.masters.get(m).stray = others;
                        next.traffic.execute(m, request, false);
                    });
            steps.progress(() -> "lost " + request + " at master " + m, next -> next.masters.get(m).stray = others);
        }
        for (int c : new TreeSet<>(master.hints)) {
            String where = " from master " + m + " to contender " + c;
            List<Integer> others = RedlockWorld.without(master.hints, master.hints.indexOf(c));
            steps.progress(() -> "hint" + where, next -> {
                next.masters.get(m).hints = others;
                next.hint(m, c);
            });
            steps.fault(Fault.LOST_HINT, () -> "lost hint" + where, next -> next.masters.get(m).hints = others);
        }
        if (master.forced != RedlockMasterModel.NOBODY) {
            steps.add(
                    () -> "lost forced release at master " + m,
                    Kind.OPTIONAL,
                    next -> next.masters.get(m).forced = RedlockMasterModel.NOBODY);
            steps.progress(
                    () -> "forced release of contender " + master.forced + " at master " + m,
                    next -> next.executeForced(m));
        }
        if (!master.silent) {
            steps.fault(Fault.DATA_LOSS, () -> "master " + m + " loses its data", next -> next.dataLoss.loseData(m));
            if (m == RedlockScope.MASTERS - 1
                    && world.contenders.stream().anyMatch(each -> each.core == CorePhase.HOLDING)) {
                steps.fault(Fault.FLUSHALL, () -> "all masters lose their data", next -> next.dataLoss.loseAllData());
            }
            for (boolean hasLastVote : new boolean[] {true, false}) {
                String data = hasLastVote ? "its" : "older";
                steps.fault(
                        Fault.RESTART,
                        () -> "master " + m + " is restarted with " + data + " data",
                        next -> next.dataLoss.restart(m, hasLastVote));
            }
        }
        addExpiry(m, master);
    }

    /**
     * Adds the expiry of a vote. The deadline of a round counts from before its first request, and a vote's expiry from its
     * execution. So a vote that its round counts on does not expire before the deadline.
     */
    private void addExpiry(int m, RedlockMasterModel master) {
        if (master.isForeign() || master.vote().isEmpty() || world.scope.has(Option.RENEWAL)) {
            return;
        }
        String what = "the vote at master " + m + " expires";
        boolean isKept = master.vote().startsWith(OwnerRecordCodec.KEPT_MARK);
        int id = isKept ? OwnerRecordCodec.KEPT_MARK.length() : 0;
        int c = master.vote().charAt(id + RedlockTraffic.ID_START.length()) - '0';
        RedlockContenderModel voter = world.contenders.get(c);
        if (isKept) {
            if (voter.core == CorePhase.DONE) { // while the release is repeated, the delay has not passed
                steps.progress(() -> what, next -> next.expire(m));
            }
        } else if (voter.overdue) {
            steps.add(() -> what, Kind.OPTIONAL, next -> next.expire(m));
        } else if (!voter.counts() || !master.vote().startsWith(RedlockTraffic.vote(c, voter.protocol.round()))) {
            steps.fault(
                    Fault.EXPIRY,
                    () -> what + " early",
                    next -> next.masters.get(m).run(next.now, "DEL", RedlockMasterModel.KEYS.grant()));
        }
    }
}
