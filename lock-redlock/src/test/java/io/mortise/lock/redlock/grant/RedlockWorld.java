// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.Steps;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.ScriptInterpreter;
import io.mortise.lock.explorer.redis.StoredValue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their connections, and the masters, at one moment. The state machine and
 * the Lua scripts are those of production; the core and the network are modelled.
 *
 * <p>A request waits on its connection until the master executes it, and its reply arrives in the same step, unless a fault
 * parts the two: since masters share nothing, a later reply only looks like a later execution. Time is the masters' clock, which
 * stands still but for a step that makes late requests late. A key does not expire by itself, a restarted master stays in
 * quarantine, and a lease is not renewed.
 *
 * <p>What a contender believes is recorded here when the machine reports it, and not read from the masters.
 */
record RedlockWorld(
        List<Master> masters,
        List<Contender> contenders,
        long now,
        FaultBudget<Fault> faults,
        long highestToken,
        boolean everHeld,
        Optional<String> broken,
        Scope scope)
        implements World<RedlockWorld> {
    private static final RedlockKeys.LockKeys KEYS = new RedlockKeys("").of(new LockName("x"));
    private static final long START = 1_700_000_000_000_000L;

    /** Tokens have 16 digits, so that {@link StateKey} ranks them. */
    private static final long FIRST_TOKEN = 1_000_000_000_000_000L;

    private static final long REQUEST_TIMEOUT = 2_000_000;
    private static final long FAR_MILLIS = 9_000_000_000_000L;
    private static final String LEASE_MILLIS = "30000000";
    private static final MonotonicInstant SOON = new MonotonicInstant(0);
    private static final MonotonicInstant LATER = new MonotonicInstant(1);
    private static final MonotonicInstant MUCH_LATER = new MonotonicInstant(2);
    private static final String FOREIGN = "foreign";
    private static final String ID_START = "a".repeat(31);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    private static final ScriptInterpreter LUA = new ScriptInterpreter();

    /** The same script is run with the same arguments in many worlds, which differ elsewhere. */
    private static final Map<Run, ScriptOutcome> RESULTS = new HashMap<>();

    private static final String RECORD = " m1 record";
    private static final String ROUND = " round=";

    /** The parts of texts in the store. */
    private static final Map<String, List<TextPart>> TEXT_PARTS = new HashMap<>();

    /** A part of a text, with the number of a round at its end if it has a contender. */
    private record TextPart(String text, int contender, int round) {}

    /** The result of a script, and the master's data afterwards, which do not expire by themselves. */
    private record ScriptOutcome(RedisModel.Result result, RedisModel server) {}

    private record Run(RedisModel server, long now, String script, List<String> args) {}

    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param script returns the text of a script
     */
    record Variant(
            BiFunction<RedlockContenderState, RedlockContenderEvent, RedlockContenderState.Step> machine,
            Function<RedlockScript, String> script) {
        static final Variant PRODUCTION =
                new Variant(RedlockContenderState::on, script -> script.script().text());
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A master executes a request, and the reply is lost. */
        LOST_REPLY,
        /** A connection is lost; the master executes its requests later, in any order, or never. */
        LATE_EXECUTION,
        /** A master is restarted without its data. */
        RESTART,
        /** A vote expires at a master, but not while its round counts on it. */
        EXPIRY
    }

    /**
     * The scope of an exploration.
     *
     * @param masters the number of masters
     * @param waits whether each contender waits
     * @param givesUp whether a contender may give up
     * @param rounds the number of rounds after which a contender gives up
     * @param silent the number of masters that do not vote from the start
     * @param foreign the number of masters at which somebody else has the lock at the start
     */
    record Scope(
            int masters,
            List<Boolean> waits,
            boolean givesUp,
            int rounds,
            int silent,
            int foreign,
            int faults,
            Set<Fault> possible,
            Variant variant) {
        Scope withGivingUp() {
            return new Scope(masters, waits, true, rounds, silent, foreign, faults, possible, variant);
        }

        Scope withSilent(int number) {
            return new Scope(masters, waits, givesUp, rounds, number, foreign, faults, possible, variant);
        }

        Scope withForeign(int number) {
            return new Scope(masters, waits, givesUp, rounds, silent, number, faults, possible, variant);
        }

        Scope withFaults(int number, Fault... kinds) {
            return new Scope(masters, waits, givesUp, rounds, silent, foreign, number, Set.of(kinds), variant);
        }

        Scope with(Variant other) {
            return new Scope(masters, waits, givesUp, rounds, silent, foreign, faults, possible, other);
        }
    }

    /** A master: its data, whether it votes, and what is on its way to it. */
    record Master(RedisModel server, boolean voting, List<Link> links, List<Request> stray) {}

    /** A connection of a contender to a master: its requests, in order, and what the contender knows of the master. */
    record Link(int epoch, boolean eligible, List<Request> sent, Cleanup cleanup) {}

    /** A request that the master has not executed, and the effect that sent it. */
    record Request(int contender, RedlockContenderEffect effect, int epoch, long notAfter) {}

    /** The repetition of a release in the background. */
    enum Cleanup {
        NONE,
        DUE,
        RUNNING
    }

    /** What an end has found at a master. */
    enum Found {
        NOT_ASKED,
        ASKED,
        /** The request was executed, and there was no vote, but the contender does not know. */
        NOTHING_UNSEEN,
        NOTHING,
        VOTE,
        /** An earlier end may have deleted the vote: the core knows that this one says nothing about it. */
        UNKNOWN
    }

    /** Something that a timer does later. */
    enum Timer {
        WAKE_SOON,
        HINTS,
        PAUSE
    }

    /**
     * One contender, and the core's view of it.
     *
     * @param token the token of the grant that is believed in; 0 if none
     * @param found what its end has found at each master so far
     */
    record Contender(
            RedlockContenderState protocol,
            CorePhase core,
            boolean woken,
            boolean gaveUp,
            Set<Timer> timers,
            Set<Integer> removalsDue,
            long token,
            List<Found> found) {}

    /** Returns the start: contenders that have made no request. */
    static RedlockWorld start(Scope scope) {
        List<Master> masters = new ArrayList<>();
        Set<String> channels = IntStream.range(0, scope.waits.size())
                .mapToObj(RedlockWorld::channel)
                .collect(Collectors.toSet());
        for (int m = 0; m < scope.masters; m++) {
            boolean voting = m >= scope.silent;
            RedisModel server = RedisModel.EMPTY.withSubscribed(channels);
            if (voting) {
                server = server.run(START, "HSET", KEYS.state(), "run", "r", KEYS.bucket(), String.valueOf(FIRST_TOKEN))
                        .next();
            }
            if (m >= scope.masters - scope.foreign) {
                server = server.run(START, "SET", KEYS.grant(), FOREIGN).next();
            }
            List<Link> links = scope.waits.stream()
                    .map(waits -> new Link(1, voting, List.of(), Cleanup.NONE))
                    .toList();
            masters.add(new Master(server, voting, links, List.of()));
        }
        List<Contender> contenders = scope.waits.stream()
                .map(waits -> new Contender(
                        RedlockContenderState.initial(scope.masters, waits),
                        CorePhase.NEW,
                        false,
                        false,
                        Set.of(),
                        Set.of(),
                        0,
                        Collections.nCopies(scope.masters, Found.NOT_ASKED)))
                .toList();
        return new RedlockWorld(
                masters,
                contenders,
                START,
                new FaultBudget<>(scope.faults, scope.possible),
                0,
                scope.foreign > 0,
                Optional.empty(),
                scope);
    }

    private static String channel(int contender) {
        return "channel" + contender;
    }

    private static String attemptId(int contender) {
        return ID_START + contender;
    }

    // ---- steps

    @Override
    public List<Step<RedlockWorld>> steps() {
        Steps<RedlockWorld, Draft, Fault> steps =
                new Steps<>(faults, () -> new Draft(this), next -> next.faults = next.faults.spent(), Draft::world);
        for (int c = 0; c < contenders.size(); c++) {
            stepsOfCore(c, steps);
        }
        boolean mayBecomeLate = false;
        boolean onlyRemovals =
                contenders.stream().allMatch(each -> each.core == CorePhase.ENDING || each.core == CorePhase.DONE);
        boolean removalChosen = false;
        for (int m = 0; m < masters.size(); m++) {
            boolean skipped =
                    onlyRemovals && removalChosen; // removals at several masters lead to the same in any order
            removalChosen |= masters.get(m).links.stream().anyMatch(link -> !link.sent.isEmpty());
            for (int c = 0; c < contenders.size(); c++) {
                if (!skipped) {
                    stepsOfLink(m, c, steps);
                }
                mayBecomeLate |=
                        contenders.get(c).protocol.masters().get(m).lost().notAfter() >= now;
            }
            stepsOfMaster(m, steps);
        }
        if (masters.stream().anyMatch(RedlockWorld::isForeign)) {
            steps.add(() -> "the foreign holder releases", Kind.PROGRESS, Draft::releaseForeign);
        }
        if (mayBecomeLate) {
            steps.add(() -> "time passes", Kind.PROGRESS, next -> next.now += 2 * REQUEST_TIMEOUT);
        }
        return steps.all();
    }

    private void stepsOfCore(int c, Steps<RedlockWorld, Draft, Fault> steps) {
        Contender contender = contenders.get(c);
        String who = "contender " + c + " ";
        switch (contender.core) {
            case NEW -> steps.add(() -> who + "makes its first attempt", Kind.PROGRESS, next -> next.attempt(c));
            case WAITING, RETRYING -> {
                boolean last = contender.protocol.round() >= scope.rounds;
                String what = last ? "gives up after its last round" : "tries again";
                steps.add(
                        () -> who + what + (contender.woken ? ", since it was woken" : " after its delay"),
                        awaitsWakeUp(contender) ? Kind.FALLBACK : Kind.PROGRESS,
                        last ? next -> next.end(c) : next -> next.attempt(c));
            }
            case HOLDING -> steps.add(() -> who + "releases", Kind.PROGRESS, next -> next.end(c));
            case END_FAILED -> steps.add(() -> who + "ends again", Kind.PROGRESS, next -> next.end(c));
            default -> {}
        }
        boolean waits = contender.core == CorePhase.WAITING || contender.core == CorePhase.RETRYING;
        if (scope.givesUp && (waits || (contender.core == CorePhase.ATTEMPTING && !contender.gaveUp))) {
            steps.add(() -> who + "gives up", Kind.OPTIONAL, next -> next.giveUp(c));
        }
        for (Timer timer : new TreeSet<>(contender.timers)) {
            steps.add(() -> who + "timer " + timer, Kind.PROGRESS, next -> next.fire(c, timer));
        }
        for (int m : new TreeSet<>(contender.removalsDue)) {
            steps.add(() -> who + "releases again at master " + m, Kind.PROGRESS, next -> {
                next.contenders.get(c).removalsDue.remove(m);
                next.feed(c, new RedlockContenderEvent.RemovalDue(m));
            });
        }
    }

    /** Returns whether it has seen a holder, and only its fallback time leads on if nobody wakes it. */
    private static boolean awaitsWakeUp(Contender contender) {
        return contender.core == CorePhase.WAITING && !contender.woken && contender.protocol.splitRounds() == 0;
    }

    private void stepsOfLink(int m, int c, Steps<RedlockWorld, Draft, Fault> steps) {
        Link link = masters.get(m).links.get(c);
        String where = " of contender " + c + " at master " + m;
        if (link.cleanup == Cleanup.DUE) {
            steps.add(() -> "cleanup" + where, Kind.PROGRESS, next -> {
                next.masters.get(m).links.get(c).cleanup = Cleanup.RUNNING;
                next.feed(c, new RedlockContenderEvent.CleanupDue(m));
            });
        }
        if (link.sent.isEmpty()) {
            return;
        }
        Request first = link.sent.get(0);
        String what = name(first);
        steps.add(() -> what + where, Kind.PROGRESS, next -> {
            next.masters.get(m).links.get(c).sent.remove(0);
            next.execute(m, first, true);
        });
        for (MonotonicInstant at : failureTimes(List.of(first))) {
            steps.fault(Fault.LOST_REPLY, () -> "lost reply to " + what + where + " at " + at, next -> {
                next.masters.get(m).links.get(c).sent.remove(0);
                next.execute(m, first, false);
                next.fail(m, first, at);
            });
        }
        for (MonotonicInstant at : failureTimes(link.sent)) {
            steps.fault(Fault.LATE_EXECUTION, () -> "lost connection" + where + " at " + at, next -> {
                LinkDraft lost = next.masters.get(m).links.get(c);
                List<Request> unanswered = List.copyOf(lost.sent);
                lost.sent.clear();
                lost.epoch++;
                next.masters.get(m).stray.addAll(unanswered);
                unanswered.forEach(request -> next.fail(m, request, at));
            });
        }
    }

    /** Returns when these requests may fail: a release is repeated if that is soon. */
    private static List<MonotonicInstant> failureTimes(List<Request> requests) {
        boolean mayBeRepeated = requests.stream()
                .anyMatch(request -> request.effect instanceof RedlockContenderEffect.SendRemoval removal
                        && !removal.forCleanup()
                        && !removal.repeated());
        return mayBeRepeated ? List.of(SOON, LATER) : List.of(LATER);
    }

    private void stepsOfMaster(int m, Steps<RedlockWorld, Draft, Fault> steps) {
        Master master = masters.get(m);
        for (int i = 0; i < master.stray.size(); i++) {
            int at = i;
            Request request = master.stray.get(i);
            steps.add(
                    () -> "late " + name(request) + " of contender " + request.contender + " at master " + m,
                    Kind.OPTIONAL,
                    next -> {
                        next.masters.get(m).stray.remove(at);
                        next.execute(m, request, false);
                    });
            steps.add(
                    () -> "lost " + name(request) + " at master " + m,
                    Kind.PROGRESS,
                    next -> next.masters.get(m).stray.remove(at));
        }
        if (master.voting) {
            steps.fault(Fault.RESTART, () -> "master " + m + " is restarted without its data", next -> {
                MasterDraft restarted = next.masters.get(m);
                restarted.server = RedisModel.EMPTY.withSubscribed(restarted.server.subscribed());
                restarted.voting = false;
            });
        }
        if (voteMayExpire(master)) {
            steps.fault(Fault.EXPIRY, () -> "the vote at master " + m + " expires", next -> {
                next.masters.get(m).server =
                        next.masters.get(m).server.run(now, "DEL", KEYS.grant()).next();
            });
        }
    }

    private static String name(Request request) {
        return request.effect.getClass().getSimpleName();
    }

    /**
     * The deadline of a round counts from before its first request, and a vote's expiry from its execution. So a vote that has
     * expired comes with a deadline that is over, with which no majority is a grant, and no grant is believed in.
     */
    private boolean voteMayExpire(Master master) {
        if (isForeign(master) || !(master.server.keys().get(KEYS.grant()) instanceof StoredValue.Text vote)) {
            return false;
        }
        RedlockContenderState voter = contenders.get(vote.text().charAt(ID_START.length()) - '0').protocol;
        boolean counts = voter.phase() instanceof RedlockContenderState.Voting
                || voter.phase() instanceof RedlockContenderState.StoringToken
                || voter.phase() instanceof RedlockContenderState.Holding;
        return !counts || !vote.text().contains(" round=" + voter.round() + " ");
    }

    private static boolean isForeign(Master master) {
        return master.server.keys().get(KEYS.grant()) instanceof StoredValue.Text text
                && text.text().equals(FOREIGN);
    }

    // ---- a world that is being changed

    private static final class LinkDraft {
        int epoch;
        boolean eligible;
        final List<Request> sent;
        Cleanup cleanup;

        LinkDraft(Link from) {
            epoch = from.epoch;
            eligible = from.eligible;
            sent = new ArrayList<>(from.sent);
            cleanup = from.cleanup;
        }

        Link link() {
            return new Link(epoch, eligible, List.copyOf(sent), cleanup);
        }
    }

    private static final class MasterDraft {
        RedisModel server;
        boolean voting;
        final List<LinkDraft> links;
        final List<Request> stray;

        MasterDraft(Master from) {
            server = from.server;
            voting = from.voting;
            links = from.links.stream().map(LinkDraft::new).toList();
            stray = new ArrayList<>(from.stray);
        }

        Master master() {
            return new Master(
                    server, voting, links.stream().map(LinkDraft::link).toList(), List.copyOf(stray));
        }
    }

    private static final class ContenderDraft {
        RedlockContenderState protocol;
        CorePhase core;
        boolean woken;
        boolean gaveUp;
        final Set<Timer> timers;
        final Set<Integer> removalsDue;
        long token;
        List<Found> found;
        final Queue<RedlockContenderEvent> events = new ArrayDeque<>();
        boolean busy;

        ContenderDraft(Contender from) {
            protocol = from.protocol;
            core = from.core;
            woken = from.woken;
            gaveUp = from.gaveUp;
            timers = new TreeSet<>(from.timers);
            removalsDue = new TreeSet<>(from.removalsDue);
            token = from.token;
            found = from.found;
        }

        Contender contender() {
            return new Contender(
                    protocol, core, woken, gaveUp, Set.copyOf(timers), Set.copyOf(removalsDue), token, found);
        }
    }

    private static final class Draft {
        final List<MasterDraft> masters;
        final List<ContenderDraft> contenders;
        final Scope scope;
        long now;
        FaultBudget<Fault> faults;
        long highestToken;
        boolean everHeld;
        Optional<String> broken;

        Draft(RedlockWorld from) {
            masters = from.masters.stream().map(MasterDraft::new).toList();
            contenders = from.contenders.stream().map(ContenderDraft::new).toList();
            scope = from.scope;
            now = from.now;
            faults = from.faults;
            highestToken = from.highestToken;
            everHeld = from.everHeld;
            broken = from.broken;
        }

        RedlockWorld world() {
            return new RedlockWorld(
                    masters.stream().map(MasterDraft::master).toList(),
                    contenders.stream().map(ContenderDraft::contender).toList(),
                    now,
                    faults,
                    highestToken,
                    everHeld,
                    broken,
                    scope);
        }

        void releaseForeign() {
            for (int m = 0; m < masters.size(); m++) {
                if (isForeign(masters.get(m).master())) {
                    run(m, RedlockScript.RELEASE, List.of(FOREIGN, "0"));
                }
            }
        }

        // ---- the core

        void attempt(int c) {
            contenders.get(c).core = CorePhase.ATTEMPTING;
            contenders.get(c).woken = false;
            feed(c, new RedlockContenderEvent.Attempt(MUCH_LATER, LATER));
        }

        void end(int c) {
            boolean repeated = contenders.get(c).core == CorePhase.END_FAILED;
            contenders.get(c).core = CorePhase.ENDING;
            contenders.get(c).token = 0;
            contenders.get(c).found = Collections.nCopies(masters.size(), repeated ? Found.UNKNOWN : Found.NOT_ASKED);
            feed(c, new RedlockContenderEvent.End(LATER));
        }

        void giveUp(int c) {
            if (contenders.get(c).core == CorePhase.ATTEMPTING) {
                contenders.get(c).gaveUp = true;
            } else {
                end(c);
            }
        }

        void fire(int c, Timer timer) {
            contenders.get(c).timers.remove(timer);
            switch (timer) {
                case WAKE_SOON -> wake(c);
                case HINTS -> feed(c, new RedlockContenderEvent.HintsDue());
                case PAUSE -> feed(c, new RedlockContenderEvent.PauseOver(MUCH_LATER, !contenders.get(c).gaveUp));
            }
        }

        private void wake(int c) {
            CorePhase core = contenders.get(c).core;
            contenders.get(c).woken |= core == CorePhase.ATTEMPTING || core == CorePhase.WAITING;
        }

        private void attempted(int c, CorePhase next) {
            ContenderDraft contender = contenders.get(c);
            if (contender.core != CorePhase.ATTEMPTING) {
                broken = Optional.of("SPI: contender " + c + " has a second result of an attempt");
            }
            contender.core = next;
            if (contender.gaveUp || (next != CorePhase.HOLDING && !contender.protocol.mayWait())) {
                contender.token = 0;
                contender.found = Collections.nCopies(masters.size(), Found.NOT_ASKED);
                contender.core = CorePhase.ENDING;
                contender.events.add(new RedlockContenderEvent.End(LATER));
            }
        }

        /** Compares the outcome of an end with what it has found, as far as the contender can know it. */
        private void ended(int c, boolean existed) {
            List<Found> found = contenders.get(c).found;
            int had = 0;
            int hadNot = 0;
            for (int m = 0; m < masters.size(); m++) {
                boolean isThere = found.get(m).compareTo(Found.ASKED) <= 0 && hasVote(m, c);
                had += found.get(m) == Found.VOTE || isThere ? 1 : 0;
                hadNot += found.get(m) == Found.NOTHING || found.get(m) == Found.NOT_ASKED ? 1 : 0;
            }
            int certain = existed ? hadNot : had;
            if (certain > masters.size() / 2) {
                broken = Optional.of(
                        "S05: the end of contender " + c + " says " + existed + ", and the masters had " + found);
            }
            ended(c, CorePhase.DONE);
        }

        private boolean hasVote(int m, int c) {
            return masters.get(m).server.keys().get(KEYS.grant()) instanceof StoredValue.Text vote
                    && vote.text().startsWith(attemptId(c));
        }

        private void found(int m, int c, Found what) {
            ContenderDraft contender = contenders.get(c);
            if (contender.core == CorePhase.ENDING && contender.found.get(m).compareTo(Found.VOTE) < 0) {
                List<Found> found = new ArrayList<>(contender.found);
                found.set(m, what);
                contender.found = List.copyOf(found);
            }
        }

        private void ended(int c, CorePhase next) {
            if (contenders.get(c).core != CorePhase.ENDING) {
                broken = Optional.of("SPI: contender " + c + " has a second result of an end");
            }
            contenders.get(c).core = next;
            contenders.get(c).timers.clear();
            contenders.get(c).woken = false;
            contenders.get(c).found = Collections.nCopies(masters.size(), Found.NOT_ASKED);
        }

        // ---- the machine

        void feed(int c, RedlockContenderEvent event) {
            ContenderDraft contender = contenders.get(c);
            contender.events.add(event);
            if (contender.busy) {
                return;
            }
            contender.busy = true;
            while (!contender.events.isEmpty()) {
                RedlockContenderState.Step step =
                        scope.variant.machine.apply(contender.protocol, contender.events.remove());
                contender.protocol = step.state();
                step.effects().forEach(effect -> perform(c, effect));
            }
            contender.busy = false;
        }

        private void perform(int c, RedlockContenderEffect effect) {
            ContenderDraft contender = contenders.get(c);
            if (effect instanceof RedlockContenderEffect.Plain plain) {
                switch (plain) {
                    case WAKE -> wake(c);
                    case WAKE_SOON -> contender.timers.add(Timer.WAKE_SOON);
                    case AWAIT_HINTS -> contender.timers.add(Timer.HINTS);
                }
            } else if (effect instanceof RedlockContenderEffect.Pause) {
                contender.timers.add(Timer.PAUSE);
            } else if (effect instanceof RedlockContenderEffect.ReportGranted granted) {
                granted(c, granted.token());
            } else if (effect instanceof RedlockContenderEffect.ReportBusy) {
                attempted(c, CorePhase.WAITING);
            } else if (effect instanceof RedlockContenderEffect.FailWithoutQuorum
                    || effect instanceof RedlockContenderEffect.FailAttempt) {
                attempted(c, CorePhase.RETRYING);
            } else if (effect instanceof RedlockContenderEffect.ReportEnded ended) {
                ended(c, ended.existed());
            } else if (effect instanceof RedlockContenderEffect.FailEnd) {
                ended(c, CorePhase.END_FAILED);
            } else if (effect instanceof RedlockContenderEffect.RepeatRemoval repeat) {
                contender.removalsDue.add(repeat.master());
            } else if (effect instanceof RedlockContenderEffect.StartCleanup start) {
                masters.get(start.master()).links.get(c).cleanup = Cleanup.DUE;
            } else if (effect instanceof RedlockContenderEffect.RepeatCleanup repeat) {
                masters.get(repeat.master()).links.get(c).cleanup = Cleanup.DUE;
            } else if (effect instanceof RedlockContenderEffect.FailCleanup failure) {
                masters.get(failure.master()).links.get(c).cleanup = Cleanup.DUE;
            } else if (effect instanceof RedlockContenderEffect.CompleteCleanup complete) {
                masters.get(complete.master()).links.get(c).cleanup = Cleanup.NONE;
                feed(c, new RedlockContenderEvent.CleanupEnded(complete.master()));
            } else {
                send(c, effect);
            }
        }

        private void granted(int c, long token) {
            if (token <= highestToken) {
                broken = Optional.of("S03: the token of contender " + c + " is not above that of an earlier grant");
            }
            highestToken = Math.max(highestToken, token);
            contenders.get(c).token = token;
            everHeld = true;
            attempted(c, CorePhase.HOLDING);
        }

        private void send(int c, RedlockContenderEffect effect) {
            int m = masterOf(effect);
            LinkDraft link = masters.get(m).links.get(c);
            if (!link.eligible && effect instanceof RedlockContenderEffect.SendAcquire acquire) {
                feed(c, voted(acquire, new MasterVote.Failed(NO_REPLY, false), new NotExecuted()));
            } else if (!link.eligible && effect instanceof RedlockContenderEffect.SendToken token) {
                feed(c, new RedlockContenderEvent.TokenStored(m, token.round(), Answer.NONE, SOON));
            } else {
                link.sent.add(new Request(c, effect, link.epoch, now + REQUEST_TIMEOUT));
                if (effect instanceof RedlockContenderEffect.SendRemoval removal && !removal.repeated()) {
                    found(m, c, Found.ASKED);
                }
            }
        }

        private static int masterOf(RedlockContenderEffect effect) {
            if (effect instanceof RedlockContenderEffect.SendAcquire send) {
                return send.master();
            }
            if (effect instanceof RedlockContenderEffect.SendToken send) {
                return send.master();
            }
            return effect instanceof RedlockContenderEffect.SendYield send
                    ? send.master()
                    : ((RedlockContenderEffect.SendRemoval) effect).master();
        }

        /** After the last round, it is too late to repeat a round with split votes. */
        private RedlockContenderEvent.Voted voted(
                RedlockContenderEffect.SendAcquire acquire, MasterVote vote, Execution execution) {
            MonotonicInstant at = acquire.round() < scope.rounds ? SOON : LATER;
            return new RedlockContenderEvent.Voted(acquire.master(), acquire.round(), vote, execution, at);
        }

        void fail(int m, Request request, MonotonicInstant at) {
            if (request.effect instanceof RedlockContenderEffect.SendAcquire acquire) {
                feed(
                        request.contender,
                        voted(
                                acquire,
                                new MasterVote.Failed(NO_REPLY, true),
                                new InDoubt(request.epoch, request.notAfter)));
            } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
                feed(request.contender, new RedlockContenderEvent.TokenStored(m, token.round(), Answer.NONE, SOON));
            } else if (request.effect instanceof RedlockContenderEffect.SendYield) {
                feed(request.contender, new RedlockContenderEvent.YieldFailed(m));
            } else if (request.effect instanceof RedlockContenderEffect.SendRemoval removal) {
                feed(request.contender, new RedlockContenderEvent.RemovalFailed(m, removal.forCleanup(), NO_REPLY, at));
            }
        }

        // ---- the masters

        void execute(int m, Request request, boolean replied) {
            int c = request.contender;
            String id = attemptId(c);
            Optional<RedlockContenderEvent> event = Optional.empty();
            if (request.effect instanceof RedlockContenderEffect.SendAcquire acquire) {
                List<String> args = new ArrayList<>(List.of(
                        "r",
                        KEYS.bucket(),
                        id,
                        record(c) + ROUND + acquire.round(),
                        LEASE_MILLIS,
                        String.valueOf(request.notAfter),
                        acquire.mayBeQueued() ? "1" : "0"));
                if (contenders.get(c).protocol.mayWait()) {
                    args.addAll(queueArgs(c));
                }
                event = Optional.of(voted(c, m, request, acquire, run(m, RedlockScript.ACQUIRE, args)));
            } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
                List<?> reply = run(
                        m,
                        RedlockScript.RAISE_TOKEN,
                        List.of("r", KEYS.bucket(), id, String.valueOf(token.round()), String.valueOf(token.token())));
                Answer answer = reply.get(0) instanceof String
                        ? Answer.NONE
                        : reply.get(0).equals(1L) ? Answer.YES : Answer.NO;
                event = Optional.of(new RedlockContenderEvent.TokenStored(m, token.round(), answer, SOON));
            } else if (request.effect instanceof RedlockContenderEffect.SendYield yield) {
                List<String> args =
                        new ArrayList<>(List.of(id, String.valueOf(yield.round()), yield.wakes() ? "1" : "0"));
                if (contenders.get(c).protocol.mayWait()) {
                    args.addAll(List.of(record(c), LEASE_MILLIS));
                    args.addAll(queueArgs(c));
                }
                run(m, RedlockScript.YIELD_VOTE, args);
            } else if (request.effect instanceof RedlockContenderEffect.SendRemoval removal) {
                found(m, c, hasVote(m, c) ? Found.VOTE : replied ? Found.NOTHING : Found.NOTHING_UNSEEN);
                List<?> reply = run(m, RedlockScript.RELEASE, List.of(id, removal.withTime() ? "1" : "0"));
                event = Optional.of(new RedlockContenderEvent.Removed(
                        m,
                        removal.forCleanup(),
                        removal.repeated(),
                        reply.get(0).equals(1L),
                        request.epoch,
                        reply.size() > 2 ? (Long) reply.get(2) : 0));
            }
            if (replied) {
                event.ifPresent(reply -> feed(c, reply));
            }
        }

        private static String record(int c) {
            return attemptId(c) + RECORD;
        }

        private static List<String> queueArgs(int c) {
            return List.of(channel(c), String.valueOf(c), LEASE_MILLIS);
        }

        private RedlockContenderEvent voted(
                int c, int m, Request request, RedlockContenderEffect.SendAcquire acquire, List<?> reply) {
            Execution execution = VoteReplyHandler.execution(new ArrayList<>(reply), true, request.epoch);
            if (execution instanceof Refused refused) {
                return new RedlockContenderEvent.CameTooLate(
                        m, acquire.round(), acquire.tries(), refused, new MasterVote.Failed(NO_REPLY, false), SOON);
            }
            if (reply.get(0) instanceof Long counter) {
                return voted(acquire, new MasterVote.Granted(counter), execution);
            }
            if (reply.get(0).equals("busy")) {
                return voted(acquire, new MasterVote.Conflicted(String.valueOf(reply.get(2)), 0, 0), execution);
            }
            masters.get(m).links.get(c).eligible = false;
            return voted(acquire, new MasterVote.Failed(NO_REPLY, false), execution);
        }

        private List<?> run(int m, RedlockScript script, List<String> args) {
            MasterDraft master = masters.get(m);
            ScriptOutcome executed = RESULTS.computeIfAbsent(
                    new Run(master.server, now, scope.variant.script.apply(script), args), Draft::execute);
            RedisModel.Result result = executed.result;
            master.server = executed.server;
            for (RedisModel.Message message : result.published()) { // it arrives at once, on a connection of its own
                int receiver = Integer.parseInt(message.channel().substring("channel".length()));
                CorePhase core = contenders.get(receiver).core;
                if (core != CorePhase.ENDING && core != CorePhase.DONE && core != CorePhase.END_FAILED) {
                    feed(receiver, new RedlockContenderEvent.Hint(m));
                } else {
                    run(m, RedlockScript.RELEASE, List.of(attemptId(receiver), "0", RECORD));
                }
            }
            Object reply = Objects.requireNonNull(result.reply());
            return reply instanceof List<?> values ? values : List.of(reply);
        }

        private static ScriptOutcome execute(Run run) {
            RedisModel.Result result = LUA.run(run.server, run.now, run.script, List.of(KEYS.all()), run.args);
            return new ScriptOutcome(result, sameExpiry(result.next()));
        }

        /** No key expires by itself, but scripts see that it has an expiry. */
        private static RedisModel sameExpiry(RedisModel server) {
            Map<String, StoredValue> keys = new HashMap<>(server.keys());
            keys.replaceAll((key, value) -> value.expiringAt(
                    value.expiresAt().isPresent() ? OptionalLong.of(FAR_MILLIS) : OptionalLong.empty()));
            return new RedisModel(keys, server.subscribed());
        }
    }

    // ---- what must hold

    @Override
    public Optional<String> violation() {
        if (broken.isPresent()) {
            return broken;
        }
        if (contenders.stream().filter(each -> each.token != 0).count() > 1) {
            return Optional.of("S01: two contenders hold the lock");
        }
        if (isWakeUpLost()) {
            return Optional.of("S11: the lock is free, and a contender waits that nothing will wake");
        }
        if (!isFinal()) {
            return Optional.empty();
        }
        for (int c = 0; c < contenders.size(); c++) {
            String id = attemptId(c);
            if (masters.stream()
                    .anyMatch(master -> master.server.keys().toString().contains(id))) {
                return Optional.of("S08: contender " + c + " has ended, and a master still has something of it");
            }
        }
        boolean exhausted = contenders.stream()
                .anyMatch(each -> each.protocol.round() >= scope.rounds
                        || each.protocol.splitRounds() >= RedlockContenderState.MOST_SPLIT_ROUNDS);
        if (scope.faults == 0 && !scope.givesUp && !everHeld && !exhausted) {
            return Optional.of("S09: each contender found the lock busy, and none held it");
        }
        return Optional.empty();
    }

    /**
     * Returns whether a contender awaits a wake-up while no other has the lock or acquires it, and nothing is on its way. One that
     * tries again after a failure does so later, and must not keep the others waiting.
     */
    private boolean isWakeUpLost() {
        boolean awaited = false;
        for (Contender contender : contenders) {
            boolean awaits = awaitsWakeUp(contender);
            awaited |= awaits;
            if (!(awaits
                    || contender.core == CorePhase.NEW
                    || contender.core == CorePhase.RETRYING
                    || contender.core == CorePhase.DONE)) {
                return false;
            }
        }
        return awaited
                && isQuiet()
                && contenders.stream().allMatch(each -> each.timers.isEmpty())
                && masters.stream()
                                .filter(master ->
                                        master.voting && !master.server.keys().containsKey(KEYS.grant()))
                                .count()
                        > masters.size() / 2;
    }

    /** Returns whether nothing is on its way to a master. */
    private boolean isQuiet() {
        return contenders.stream().allMatch(each -> each.removalsDue.isEmpty())
                && masters.stream()
                        .allMatch(master -> master.stray.isEmpty()
                                && master.links.stream()
                                        .allMatch(link -> link.sent.isEmpty() && link.cleanup == Cleanup.NONE));
    }

    @Override
    public boolean isFinal() {
        return contenders.stream().allMatch(each -> each.core == CorePhase.DONE) && isQuiet();
    }

    @Override
    public List<String> situations() {
        Set<String> present = new TreeSet<>();
        for (Contender contender : contenders) {
            present.add(contender.protocol.phase().getClass().getSimpleName());
            if (contender.gaveUp && contender.core == CorePhase.DONE) {
                present.add("given up");
            }
            if (!contender.removalsDue.isEmpty()) {
                present.add("release repeated");
            }
        }
        if (masters.stream().anyMatch(master -> !master.stray.isEmpty())) {
            present.add("late");
        }
        if (masters.stream().flatMap(master -> master.links.stream()).anyMatch(link -> link.cleanup != Cleanup.NONE)) {
            present.add("cleanup");
        }
        return List.copyOf(present);
    }

    // ---- the key

    /**
     * Masters that differ in nothing are equal, and so are contenders that do not wait. Those that wait differ in their queue
     * positions.
     */
    @Override
    public void describe(StateKey key) {
        key.number(now).number(highestToken).number(faults.left()).flags(everHeld);
        List<int[]> orders = contenders.size() == 2 && !scope.waits.contains(true)
                ? List.of(new int[] {0, 1}, new int[] {1, 0})
                : List.of(IntStream.range(0, contenders.size()).toArray());
        key.leastOf(orders, order -> describe(key, order));
    }

    private void describe(StateKey key, int[] order) {
        for (int c : order) {
            Contender contender = contenders.get(c);
            RedlockContenderState protocol = contender.protocol;
            key.value("\ncontender").value(contender.core).flags(contender.woken, contender.gaveUp);
            for (Timer timer : Timer.values()) {
                key.flags(contender.timers.contains(timer));
            }
            key.number(contender.token).value(protocol.phase().getClass());
            if (protocol.phase() instanceof RedlockContenderState.StoringToken storing) {
                key.number(storing.token());
            }
            // Only attempts that do not wait count their split rounds.
            key.number(protocol.mayWait() ? Math.min(1, protocol.splitRounds()) : protocol.splitRounds());
            key.number(scope.rounds < Integer.MAX_VALUE ? protocol.round() : 0);
        }
        key.unordered(IntStream.range(0, masters.size()).boxed().toList(), (into, m) -> describe(into, m, order));
    }

    private void describe(StateKey key, int m, int[] order) {
        Master master = masters.get(m);
        key.value("\nmaster").flags(master.voting);
        new TreeMap<>(master.server.keys()).forEach((name, value) -> describe(key.value(name), value));
        for (int c : order) {
            Link link = master.links.get(c);
            RedlockContenderState protocol = contenders.get(c).protocol;
            AttemptAtMaster attempt = protocol.masters().get(m);
            key.value("\nlink").number(link.epoch).value(link.cleanup).number(attempt.awaited());
            key.flags(
                    link.eligible,
                    contenders.get(c).removalsDue.contains(m),
                    attempt.voted(),
                    attempt.queued(),
                    attempt.cleaning(),
                    (protocol.hinting() & 1L << m) != 0);
            key.value(contenders.get(c).found.get(m));
            key.value(attempt.lost().anyLost() ? attempt.lost() : null);
            describe(key, protocol, m);
            key.value(answer(protocol.phase(), m)).list(link.sent, this::describe);
        }
        key.value("\nlate").unordered(master.stray, this::describe);
    }

    private void describe(StateKey key, StoredValue value) {
        key.flags(value.expiresAt().isPresent());
        if (value instanceof StoredValue.Text text) {
            describe(key, text.text());
        } else if (value instanceof StoredValue.Hash hash) {
            key.number(hash.fields().size());
            hash.fields().forEach((field, text) -> describe(key.value(field), text));
        } else {
            Map<String, Double> scores = ((StoredValue.SortedSet) value).scores();
            key.list(
                    scores.entrySet(), (into, each) -> into.value(each.getKey()).value(each.getValue()));
        }
    }

    /** Describes a text in the store. Rounds count by their distance from the last round of their attempt. */
    private void describe(StateKey key, String text) {
        for (TextPart part : TEXT_PARTS.computeIfAbsent(text, RedlockWorld::parts)) {
            key.value(part.text);
            if (part.contender >= 0) {
                key.number(contenders.get(part.contender).protocol.round() - part.round);
            }
        }
    }

    private static List<TextPart> parts(String text) {
        List<TextPart> parts = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf(ROUND); at >= 0; at = text.indexOf(ROUND, from)) {
            int digits = at + ROUND.length();
            int contender = text.charAt(text.lastIndexOf(RECORD, at) - 1) - '0';
            int end = digits;
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
            parts.add(new TextPart(text.substring(from, digits), contender, Integer.parseInt(text, digits, end, 10)));
            from = end;
        }
        parts.add(new TextPart(text.substring(from), -1, 0));
        return List.copyOf(parts);
    }

    private static void describe(StateKey key, RedlockContenderState protocol, int m) {
        MasterVote vote = protocol.votes().of(m);
        key.value(vote.getClass());
        if (vote instanceof MasterVote.Granted granted) {
            key.number(granted.counter());
            VoteTally votes = protocol.votes();
            key.flags(votes.lowestCounter() <= granted.counter() && granted.counter() <= votes.highestCounter());
        } else if (vote instanceof MasterVote.Conflicted conflict) {
            key.value(conflict.holder());
        } else if (vote instanceof MasterVote.Failed failed) {
            key.flags(failed.mayHaveGranted());
        }
    }

    private static @Nullable Answer answer(RedlockContenderState.Phase phase, int m) {
        Answers answers = phase instanceof RedlockContenderState.StoringToken storing
                ? storing.stored()
                : phase instanceof RedlockContenderState.Releasing releasing ? releasing.held() : null;
        return answers == null ? null : answers.of(m);
    }

    private void describe(StateKey key, Request request) {
        int round = contenders.get(request.contender).protocol.round();
        RedlockContenderEffect effect = request.effect;
        key.participant(request.contender).value(effect.getClass()).number(request.epoch);
        if (effect instanceof RedlockContenderEffect.SendAcquire send) {
            key.number(round - send.round()).flags(send.mayBeQueued()).number(send.tries());
            key.number(request.notAfter);
        } else if (effect instanceof RedlockContenderEffect.SendToken send) {
            key.number(round - send.round()).number(send.token());
        } else if (effect instanceof RedlockContenderEffect.SendYield send) {
            key.number(round - send.round()).flags(send.wakes());
        } else if (effect instanceof RedlockContenderEffect.SendRemoval send) {
            key.flags(send.forCleanup(), send.repeated(), send.withTime());
        }
    }
}
