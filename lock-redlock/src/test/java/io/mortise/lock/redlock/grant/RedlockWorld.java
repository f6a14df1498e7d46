// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Cleanup;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Found;
import io.mortise.lock.redlock.grant.RedlockContenderModel.Timer;
import io.mortise.lock.redlock.grant.RedlockScope.Fault;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Contenders for one lock, the core that drives them, their connections, and the masters, at one moment. The state machine and
 * the Lua scripts are those of production; the core and the network are modelled. Only a step changes a world, and only the
 * copy that it has made.
 *
 * <p>A request waits on its connection until the master executes it, and its reply arrives in the same step, unless a fault
 * parts the two: since masters share nothing, a later reply only looks like a later execution. Time is the masters' clock, which
 * stands still but for the steps that make late requests late and that end a quarantine. A key expires by a step of its own, and
 * not while a round counts on it. A lease is valid until the step in which its deadline passes. With {@link Option#RENEWAL} both
 * follow the clock instead.
 *
 * <p>What a contender believes is recorded here when the machine reports it, and not read from the masters.
 */
final class RedlockWorld implements World<RedlockWorld> {
    static final long START = 1_700_000_000_000_000L;
    static final MonotonicInstant SOON = new MonotonicInstant(0);
    static final MonotonicInstant LATER = new MonotonicInstant(1);
    private static final MonotonicInstant MUCH_LATER = new MonotonicInstant(2);
    private static final MonotonicInstant AFTER_DEADLINE = new MonotonicInstant(3);
    private static final String QUARANTINED = "Q";

    final RedlockScope scope;
    final List<RedlockMasterModel> masters = new ArrayList<>();
    final List<RedlockContenderModel> contenders = new ArrayList<>();
    final RedlockTraffic traffic = new RedlockTraffic(this);
    final RedlockDataLoss dataLoss = new RedlockDataLoss(this);
    final RedlockRenewalModel renewal = new RedlockRenewalModel(this);
    long now = START;
    FaultBudget<Fault> faults;
    long highestToken;
    boolean everHeld;
    boolean expired;
    Optional<String> broken = Optional.empty();

    /** The start: contenders that have made no request. */
    RedlockWorld(RedlockScope scope) {
        this.scope = scope;
        for (int m = 0; m < RedlockScope.MASTERS; m++) {
            masters.add(new RedlockMasterModel(scope, m));
        }
        scope.waits().forEach(waits -> contenders.add(new RedlockContenderModel(waits)));
        faults = new FaultBudget<>(scope.faults(), scope.possible());
        everHeld = scope.foreign() > 0;
        renewal.start();
    }

    RedlockWorld(RedlockWorld from) {
        scope = from.scope;
        from.masters.forEach(each -> masters.add(new RedlockMasterModel(each)));
        from.contenders.forEach(each -> contenders.add(new RedlockContenderModel(each)));
        now = from.now;
        renewal.renewals = from.renewal.renewals;
        renewal.halfLeases = from.renewal.halfLeases;
        faults = from.faults;
        highestToken = from.highestToken;
        everHeld = from.everHeld;
        expired = from.expired;
        broken = from.broken;
    }

    @Override
    public List<Step<RedlockWorld>> steps() {
        return RedlockWorldSteps.of(this);
    }

    static <T> List<T> with(List<T> all, T more) {
        return Stream.concat(all.stream(), Stream.of(more)).toList();
    }

    static <T> List<T> without(List<T> all, int index) {
        List<T> rest = new ArrayList<>(all);
        rest.remove(index);
        return List.copyOf(rest);
    }

    // ---- the core

    void attempt(int c) {
        RedlockContenderModel contender = contenders.get(c);
        contender.core = CorePhase.ATTEMPTING;
        contender.woken = false;
        contender.startRound(renewal.deadlineFromNow());
        feed(c, new RedlockContenderEvent.Attempt(MUCH_LATER, LATER));
    }

    /** Returns this time, or one after the deadline of the contender's round if that is over. */
    MonotonicInstant time(int c, MonotonicInstant otherwise) {
        return contenders.get(c).overdue ? AFTER_DEADLINE : otherwise;
    }

    void end(int c, boolean delayed) {
        RedlockContenderModel contender = contenders.get(c);
        Found found = contender.core == CorePhase.END_FAILED ? Found.UNKNOWN : Found.NOT_ASKED;
        contender.core = CorePhase.ENDING;
        contender.token = 0;
        contender.delayed = delayed;
        contender.masters.forEach(each -> {
            each.found = found;
            each.atRisk = false;
        });
        Duration delay = RedlockTraffic.DELAY;
        feed(c, delayed ? new RedlockContenderEvent.EndAfter(delay) : new RedlockContenderEvent.End(LATER));
    }

    /** Lets the kept votes expire; no request is that late. */
    void endAfterDelay(int c) {
        Predicate<RedlockTraffic.Request> isOther = request ->
                request.contender() != c || !(request.effect() instanceof RedlockContenderEffect.SendDelayedRelease);
        for (int m = 0; m < masters.size(); m++) {
            RedlockMasterModel master = masters.get(m);
            if (contenders.get(c).masters.get(m).kept) {
                expire(m);
            }
            master.stray = master.stray.stream().filter(isOther).toList();
            master.links.forEach(
                    link -> link.sent = link.sent.stream().filter(isOther).toList());
        }
        end(c, false);
    }

    void giveUp(int c) {
        if (contenders.get(c).core == CorePhase.ATTEMPTING) {
            contenders.get(c).gaveUp = true;
        } else {
            end(c, false);
        }
    }

    void fire(int c, Timer timer) {
        RedlockContenderModel contender = contenders.get(c);
        contender.timers.remove(timer);
        switch (timer) {
            case WAKE_SOON -> contender.wake();
            case HINTS -> feed(c, new RedlockContenderEvent.HintsDue());
            case PAUSE -> {
                contender.startRound(renewal.deadlineFromNow());
                feed(c, new RedlockContenderEvent.PauseOver(MUCH_LATER, !contender.gaveUp));
            }
        }
    }

    private void attempted(int c, CorePhase next) {
        RedlockContenderModel contender = contenders.get(c);
        expect(c, CorePhase.ATTEMPTING);
        contender.core = next;
        if (contender.gaveUp || (next != CorePhase.HOLDING && !contender.protocol.mayWait())) {
            end(c, false);
        }
    }

    private void granted(int c, long token) {
        if (token <= highestToken) {
            broken = Optional.of("S03: the token of contender " + c + " is not above that of an earlier grant");
        }
        highestToken = Math.max(highestToken, token);
        contenders.get(c).token = token;
        contenders.get(c).grantedUntil = contenders.get(c).validUntil;
        everHeld = true;
        attempted(c, CorePhase.HOLDING);
    }

    private void busy(int c, VoteTally votes) {
        long orphans = IntStream.range(0, masters.size())
                .filter(m -> contenders.get(c).masters.get(m).orphanSeen)
                .filter(m -> votes.of(m) instanceof MasterVote.Conflicted)
                .count();
        if (orphans >= RedlockScope.MAJORITY) {
            broken = Optional.of(
                    "S15: contender " + c + " is told that the lock is busy, by votes that its client has left");
        }
        attempted(c, CorePhase.WAITING);
    }

    /** Compares the outcome of an end with what it has found, as far as the contender can know it. */
    private void ended(int c, boolean existed) {
        RedlockContenderModel contender = contenders.get(c);
        List<Found> found =
                contender.masters.stream().map(master -> master.found).toList();
        int had = 0;
        int hadNot = 0;
        for (int m = 0; m < masters.size(); m++) {
            boolean isThere = found.get(m).compareTo(Found.ASKED) <= 0
                    && masters.get(m).vote().startsWith(RedlockTraffic.attemptId(c));
            had += found.get(m) == Found.VOTE || isThere ? 1 : 0;
            hadNot += found.get(m) == Found.NOTHING || found.get(m) == Found.NOT_ASKED ? 1 : 0;
        }
        int certain = existed ? hadNot : had;
        if (certain >= RedlockScope.MAJORITY) {
            broken = Optional.of(
                    "S05: the end of contender " + c + " says " + existed + ", and the masters had " + found);
        }
        contender.keptForGood = contender.delayed && existed;
        contender.forgetRenewals();
        ended(c, CorePhase.DONE);
    }

    private void ended(int c, CorePhase next) {
        RedlockContenderModel contender = contenders.get(c);
        expect(c, CorePhase.ENDING);
        contender.core = next;
        contender.timers.clear();
        contender.woken = false;
        contender.masters.forEach(master -> master.found = Found.NOT_ASKED);
    }

    private void expect(int c, CorePhase expected) {
        if (contenders.get(c).core != expected) {
            broken = Optional.of("SPI: contender " + c + " has a second result of " + expected);
        }
    }

    // ---- the machine

    void feed(int c, RedlockContenderEvent event) {
        RedlockContenderModel contender = contenders.get(c);
        contender.events = with(contender.events, event);
        if (contender.working) {
            return;
        }
        contender.working = true;
        while (!contender.events.isEmpty()) {
            RedlockContenderEvent next = contender.events.get(0);
            contender.events = without(contender.events, 0);
            RedlockContenderState.Step step = scope.variant().machine().apply(contender.protocol, next);
            contender.protocol = step.state();
            step.effects().forEach(effect -> perform(c, effect));
        }
        contender.working = false;
    }

    private void perform(int c, RedlockContenderEffect effect) {
        RedlockContenderModel contender = contenders.get(c);
        if (effect == RedlockContenderEffect.Plain.WAKE) {
            contender.wake();
        } else if (effect == RedlockContenderEffect.Plain.WAKE_SOON) {
            contender.timers.add(Timer.WAKE_SOON);
        } else if (effect == RedlockContenderEffect.Plain.AWAIT_HINTS) {
            contender.timers.add(Timer.HINTS);
        } else if (effect instanceof RedlockContenderEffect.Pause) {
            contender.timers.add(Timer.PAUSE);
        } else if (effect instanceof RedlockContenderEffect.ReportGranted granted) {
            granted(c, granted.token());
        } else if (effect instanceof RedlockContenderEffect.ReportBusy busy) {
            busy(c, busy.votes());
        } else if (effect instanceof RedlockContenderEffect.FailWithoutQuorum
                || effect instanceof RedlockContenderEffect.FailAttempt) {
            attempted(c, CorePhase.RETRYING);
        } else if (effect instanceof RedlockContenderEffect.ReportEnded ended) {
            ended(c, ended.existed());
        } else if (effect instanceof RedlockContenderEffect.FailEnd) {
            ended(c, CorePhase.END_FAILED);
        } else if (effect instanceof RedlockContenderEffect.RepeatRemoval repeat) {
            contender.masters.get(repeat.master()).removalDue = true;
        } else if (effect instanceof RedlockContenderEffect.StartCleanup
                || effect instanceof RedlockContenderEffect.RepeatCleanup
                || effect instanceof RedlockContenderEffect.FailCleanup) {
            contender.masters.get(((RedlockContenderEffect.AtMaster) effect).master()).cleanup = Cleanup.DUE;
        } else if (effect instanceof RedlockContenderEffect.CompleteCleanup complete) {
            contender.masters.get(complete.master()).cleanup = Cleanup.NONE;
            feed(c, new RedlockContenderEvent.CleanupEnded(complete.master()));
        } else {
            traffic.send(c, (RedlockContenderEffect.AtMaster) effect);
        }
    }

    // ---- the masters

    /** Returns the connection of the contender's client. */
    RedlockMasterModel.Link link(int m, int c) {
        return masters.get(m).links.get(scope.clientOf(c));
    }

    void wakeWaiters(int client) {
        for (int c = 0; c < contenders.size(); c++) {
            if (scope.clientOf(c) == client) {
                contenders.get(c).wakeIfWaiting();
            }
        }
    }

    boolean isMajority(Predicate<RedlockMasterModel> which) {
        return masters.stream().filter(which).count() >= RedlockScope.MAJORITY;
    }

    List<?> run(int m, RedlockScript script, List<String> args) {
        return run(m, script, List.of(RedlockMasterModel.KEYS.all()), args);
    }

    /** Runs a script at a master. Returns its reply, and delivers the messages that it has published. */
    List<?> run(int m, RedlockScript script, List<String> keys, List<String> args) {
        RedlockMasterModel master = masters.get(m);
        RedisModel.Result result = master.run(now, scope.variant().script().apply(script), keys, args);
        for (RedisModel.Message message : result.published()) { // it arrives on a connection of its own
            int client = Integer.parseInt(message.channel().substring(RedlockMasterModel.CHANNEL.length()));
            if (message.text().equals(QUARANTINED)) {
                if (master.links.get(client).eligible) {
                    dataLoss.sendHandshake(m, client);
                }
                continue;
            }
            int receiver = message.text().split(" ", -1)[1].charAt(RedlockTraffic.ID_START.length()) - '0';
            if (scope.has(Option.LATE_HINTS)) {
                master.hints = with(master.hints, receiver);
            } else {
                hint(m, receiver);
            }
        }
        Object reply = Objects.requireNonNull(result.reply());
        return reply instanceof List<?> values ? values : List.of(reply);
    }

    void hint(int m, int receiver) {
        CorePhase core = contenders.get(receiver).core;
        if (core != CorePhase.ENDING && core != CorePhase.DONE && core != CorePhase.END_FAILED) {
            feed(receiver, new RedlockContenderEvent.Hint(m));
        } else {
            run(m, RedlockScript.RELEASE, List.of(RedlockTraffic.attemptId(receiver), "0", RedlockTraffic.RECORD));
        }
    }

    void releaseForeign() {
        for (int m = 0; m < masters.size(); m++) {
            if (masters.get(m).isForeign()) {
                run(m, RedlockScript.RELEASE, List.of(RedlockMasterModel.FOREIGN, "0"));
            }
        }
    }

    void force(int c) {
        contenders.get(c).displaced = true;
        masters.forEach(master -> master.forced = c);
    }

    void executeForced(int m) {
        int c = masters.get(m).forced;
        masters.get(m).forced = RedlockMasterModel.NOBODY;
        contenders.get(c).masters.get(m).kept = false;
        run(m, RedlockScript.FORCE_RELEASE, List.of(RedlockTraffic.attemptId(c), "1"));
    }

    void expire(int m) {
        masters.get(m).run(now, "DEL", RedlockMasterModel.KEYS.grant());
        contenders.forEach(each -> each.masters.get(m).kept = false);
        expired = true;
    }

    // ---- what must hold, and what counts

    @Override
    public Optional<String> violation() {
        return new RedlockWorldChecks(this).violation();
    }

    @Override
    public boolean isFinal() {
        return contenders.stream().allMatch(each -> each.core == CorePhase.DONE) && isQuiet();
    }

    /** Returns whether nothing is on its way to a master. */
    boolean isQuiet() {
        return masters.stream().allMatch(RedlockMasterModel::isQuiet)
                && contenders.stream()
                        .flatMap(each -> each.masters.stream())
                        .allMatch(each -> !each.removalDue && each.cleanup == Cleanup.NONE);
    }

    @Override
    public List<String> situations() {
        return new RedlockWorldChecks(this).situations();
    }

    @Override
    public void describe(StateKey key) {
        new RedlockWorldKey(this).describe(key);
    }
}
