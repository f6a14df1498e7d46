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
import io.mortise.lock.redlock.grant.RedlockScope.Fault;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
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
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their connections, and the masters, at one moment. The state machine and
 * the Lua scripts are those of production; the core and the network are modelled.
 *
 * <p>A request waits on its connection until the master executes it, and its reply arrives in the same step, unless a fault
 * parts the two: since masters share nothing, a later reply only looks like a later execution. Time is the masters' clock, which
 * stands still but for the steps that make late requests late and that end a quarantine. A key expires by a step of its own, and
 * not while a round counts on it. A lease is not renewed: it is valid until the step in which its deadline passes.
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
        boolean expired,
        Optional<String> broken,
        RedlockScope scope)
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
    private static final MonotonicInstant AFTER_DEADLINE = new MonotonicInstant(3);
    private static final String FOREIGN = "foreign";
    private static final String CHANNEL = "channel";
    private static final String QUARANTINED = "Q";
    private static final String MAX_LEASE = "60000";
    private static final String WRONG_MAX_LEASE = "1000";
    private static final long QUARANTINE = 60_000_000;
    private static final Duration DELAY = Duration.ofMinutes(1);
    private static final int NOBODY = -1;
    private static final String ID_START = "a".repeat(31);

    @SuppressWarnings("StaticAssignmentOfThrowable") // never thrown; a new one in each step would be slow
    private static final BackendUnavailableException NO_REPLY = new BackendUnavailableException("no reply");

    private static final ScriptInterpreter LUA = new ScriptInterpreter();

    /** The same script is run with the same arguments in many worlds, which differ elsewhere. */
    private static final Map<Run, ScriptOutcome> RESULTS = new HashMap<>();

    private static final String RECORD = " m1 record";
    private static final String ROUND = " round=";

    /** The orders of contenders by which of them wait. */
    private static final Map<List<Boolean>, List<int[]>> ORDERS = new HashMap<>();

    /** The parts of texts in the store. */
    private static final Map<String, List<TextPart>> TEXT_PARTS = new HashMap<>();

    /** A part of a text, with the number of a round at its end if it has a contender. */
    private record TextPart(String text, int contender, int round) {}

    /** The result of a script, and the master's data afterwards, which do not expire by themselves. */
    private record ScriptOutcome(RedisModel.Result result, RedisModel server) {}

    private record Run(RedisModel server, long now, String script, List<String> keys, List<String> args) {}

    /**
     * A master.
     *
     * @param server its data
     * @param run the number of times that it was restarted
     * @param silent whether it never votes
     * @param links the connection of each contender
     * @param stray requests of lost connections
     * @param hints the contenders to which a hint is on its way
     * @param forced the contender that an operator is about to release here; {@link #NOBODY} if none
     */
    record Master(
            RedisModel server,
            int run,
            boolean silent,
            List<Link> links,
            List<Request> stray,
            List<Integer> hints,
            int forced) {}

    /**
     * A connection of a contender to a master.
     *
     * @param eligible whether the contender knows that the master votes
     * @param since the start of the quarantine that the contender knows; 0 if none
     * @param differs whether the master stores another {@code maxLease} than the contender's client has
     * @param sent the requests, in order
     */
    record Link(int epoch, boolean eligible, long since, boolean differs, List<Request> sent, Cleanup cleanup) {}

    /**
     * A request that the master has not executed, and the effect that sent it.
     *
     * @param awaited whether its reply is awaited
     * @param again whether it was sent again, since the master did not know its script
     */
    record Request(
            int contender, RedlockContenderEffect effect, int epoch, long notAfter, boolean awaited, boolean again) {
        Request givenUp() {
            return new Request(contender, effect, epoch, notAfter, false, again);
        }

        Request sentAgain() {
            return new Request(contender, effect, epoch, notAfter, awaited, true);
        }
    }

    /** The repetition of a release in the background. */
    enum Cleanup {
        NONE,
        DUE,
        RUNNING
    }

    /** The knowledge of what an end has found at a master. */
    enum Found {
        NOT_ASKED,
        ASKED,
        /** The request was executed, and there was no vote, but the contender does not know. */
        NOTHING_UNSEEN,
        /** The contender knows it: a vote that comes later is none of the grant that ends. */
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
     * @param delayed whether it ends with a delay
     * @param overdue whether the deadline of its round or its grant is over
     * @param displaced whether an operator has released its grant
     * @param atRisk the masters that have lost a vote of its round, or may not have it any more
     * @param kept the masters that keep its vote for the delay of its release
     * @param keptForGood whether its release has said that a majority keeps its votes
     */
    record Contender(
            RedlockContenderState protocol,
            CorePhase core,
            boolean woken,
            boolean gaveUp,
            Set<Timer> timers,
            Set<Integer> removalsDue,
            long token,
            List<Found> found,
            boolean delayed,
            boolean overdue,
            boolean displaced,
            Set<Integer> atRisk,
            Set<Integer> kept,
            boolean keptForGood) {}

    /** Returns the start: contenders that have made no request. */
    static RedlockWorld start(RedlockScope scope) {
        List<Master> masters = new ArrayList<>();
        Set<String> channels = IntStream.range(0, scope.waits().size())
                .mapToObj(RedlockWorld::channel)
                .collect(Collectors.toSet());
        for (int m = 0; m < RedlockScope.MASTERS; m++) {
            boolean silent = m < scope.silent();
            RedisModel server = RedisModel.EMPTY.withSubscribed(channels);
            if (!silent) {
                server = server.run(
                                START,
                                "HSET",
                                KEYS.state(),
                                "run",
                                runId(0),
                                "maxLease",
                                MAX_LEASE,
                                KEYS.bucket(),
                                String.valueOf(FIRST_TOKEN))
                        .next();
            }
            if (m >= RedlockScope.MASTERS - scope.foreign()) {
                server = server.run(START, "SET", KEYS.grant(), FOREIGN).next();
            }
            List<Link> links = IntStream.range(0, scope.waits().size())
                    .mapToObj(
                            c -> new Link(1, !silent && !scope.hasWrongMaxLease(c), 0, false, List.of(), Cleanup.NONE))
                    .toList();
            masters.add(new Master(server, 0, silent, links, List.of(), List.of(), NOBODY));
        }
        List<Contender> contenders = scope.waits().stream()
                .map(waits -> new Contender(
                        RedlockContenderState.initial(RedlockScope.MASTERS, waits),
                        CorePhase.NEW,
                        false,
                        false,
                        Set.of(),
                        Set.of(),
                        0,
                        Collections.nCopies(RedlockScope.MASTERS, Found.NOT_ASKED),
                        false,
                        false,
                        false,
                        Set.of(),
                        Set.of(),
                        false))
                .toList();
        return new RedlockWorld(
                masters,
                contenders,
                START,
                new FaultBudget<>(scope.faults(), scope.possible()),
                0,
                scope.foreign() > 0,
                false,
                Optional.empty(),
                scope);
    }

    private static String channel(int contender) {
        return CHANNEL + contender;
    }

    private static String runId(int number) {
        return "run" + number;
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
        boolean onlyRemovals = contenders.stream()
                .allMatch(each -> (each.core == CorePhase.ENDING && !each.delayed) || each.core == CorePhase.DONE);
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
            case NEW -> stepsOfNew(c, who, steps);
            case WAITING, RETRYING -> {
                boolean last = contender.protocol.round() >= scope.rounds();
                String what = last ? "gives up after its last round" : "tries again";
                steps.add(
                        () -> who + what + (contender.woken ? ", since it was woken" : " after its delay"),
                        awaitsWakeUp(contender) ? Kind.FALLBACK : Kind.PROGRESS,
                        last ? next -> next.end(c, false) : next -> next.attempt(c));
            }
            case HOLDING -> {
                steps.progress(() -> who + "releases", next -> next.end(c, false));
                if (scope.has(Option.DELAYED_RELEASE)) {
                    steps.progress(() -> who + "releases with a delay", next -> next.end(c, true));
                }
                steps.fault(Fault.FORCED_RELEASE, () -> "an operator releases the lock of contender " + c, next -> {
                    next.contenders.get(c).displaced = true;
                    next.masters.forEach(master -> master.forced = c);
                });
            }
            case END_FAILED -> {
                steps.progress(() -> who + "ends again", next -> next.end(c, contender.delayed));
                if (contender.delayed) {
                    steps.progress(() -> who + "ends after its delay", next -> next.endAfterDelay(c));
                }
            }
            default -> {}
        }
        boolean waits = contender.core == CorePhase.WAITING || contender.core == CorePhase.RETRYING;
        if (scope.has(Option.GIVES_UP) && (waits || (contender.core == CorePhase.ATTEMPTING && !contender.gaveUp))) {
            steps.add(() -> who + "gives up", Kind.OPTIONAL, next -> next.giveUp(c));
        }
        if (counts(contender.protocol) && !contender.overdue) {
            steps.fault(Fault.DEADLINE, () -> "the deadline of " + who + "passes", next -> next.passDeadline(c));
            if (!contender.atRisk.isEmpty() && scope.has(Option.QUARANTINE_ENDS)) {
                steps.add(() -> "the deadline of " + who + "passes", Kind.FALLBACK, next -> next.passDeadline(c));
            }
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

    private void stepsOfNew(int c, String who, Steps<RedlockWorld, Draft, Fault> steps) {
        boolean isConnected =
                masters.stream().filter(master -> master.links.get(c).eligible).count() >= RedlockScope.MAJORITY;
        if (isConnected || !scope.has(Option.QUARANTINE_ENDS)) {
            steps.progress(() -> who + "makes its first attempt", next -> next.attempt(c));
        } else {
            steps.progress(() -> who + "does not connect", next -> next.contenders.get(c).core = CorePhase.DONE);
        }
    }

    /** Returns whether a contender counts on the votes of its round. */
    private static boolean counts(RedlockContenderState protocol) {
        return protocol.phase() instanceof RedlockContenderState.Voting
                || protocol.phase() instanceof RedlockContenderState.StoringToken
                || protocol.phase() instanceof RedlockContenderState.Holding;
    }

    /**
     * Returns whether it has seen a holder, and only its fallback time leads on if nobody wakes it. That time is over when the votes
     * that it has seen have expired.
     */
    private boolean awaitsWakeUp(Contender contender) {
        return contender.core == CorePhase.WAITING
                && !contender.woken
                && !expired
                && contender.protocol.splitRounds() == 0;
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
        if (!link.eligible && scope.has(Option.QUARANTINE_ENDS)) {
            stepsOfQuarantine(m, c, steps);
        }
        if (link.sent.isEmpty()) {
            return;
        }
        Request first = link.sent.get(0);
        steps.progress(() -> name(first) + where, next -> {
            next.masters.get(m).links.get(c).sent.remove(0);
            next.execute(m, first, first.awaited);
        });
        if (first.awaited && !first.again) {
            steps.fault(Fault.UNKNOWN_SCRIPT, () -> name(first) + where + " is sent again", next -> {
                List<Request> sent = next.masters.get(m).links.get(c).sent;
                sent.add(sent.remove(0).sentAgain());
            });
        }
        if (faults.allows(Fault.SLOW_REPLY)) {
            link.sent.stream()
                    .filter(request -> request.awaited)
                    .max(Comparator.comparing(request -> request.again)) // it was sent first
                    .ifPresent(oldest -> stepsOfSlowReply(m, c, oldest, where, steps));
        }
        for (MonotonicInstant at : failureTimes(link.sent)) {
            steps.fault(Fault.LATE_EXECUTION, () -> "lost connection" + where + " at " + at, next -> {
                next.masters.get(m).stray.addAll(link.sent);
                next.loseConnection(m, c, at);
            });
        }
    }

    private void stepsOfSlowReply(int m, int c, Request oldest, String where, Steps<RedlockWorld, Draft, Fault> steps) {
        for (MonotonicInstant at : failureTimes(List.of(oldest))) {
            steps.fault(Fault.SLOW_REPLY, () -> "no reply to " + name(oldest) + where + " at " + at, next -> {
                List<Request> sent = next.masters.get(m).links.get(c).sent;
                sent.set(sent.indexOf(oldest), oldest.givenUp());
                next.fail(m, oldest, at);
            });
        }
    }

    private void stepsOfQuarantine(int m, int c, Steps<RedlockWorld, Draft, Fault> steps) {
        Link link = masters.get(m).links.get(c);
        String where = " of contender " + c + " with master " + m;
        if (masters.get(m).silent) {
            return;
        }
        boolean votes = votes(masters.get(m));
        if (link.since == 0 || votes) {
            steps.progress(() -> "handshake" + where, next -> next.handshake(m, c));
        }
        boolean agrees = masters.stream().noneMatch(master -> master.links.get(c).differs);
        if (link.since != 0 && agrees && (scope.hasWrongMaxLease(c) || isQuarantineOver(m))) {
            steps.add(() -> "end of the quarantine" + where, Kind.FALLBACK, next -> next.endQuarantine(m, c));
        }
    }

    private static boolean votes(Master master) {
        return master.server.keys().get(KEYS.state()) instanceof StoredValue.Hash state
                && runId(master.run).equals(state.fields().get("run"));
    }

    /**
     * Returns whether no lease and no round can be valid any more that this master may have forgotten. Its quarantine lasts at least
     * as long. A lease may have been renewed since by a majority that has its votes.
     */
    private boolean isQuarantineOver(int m) {
        return !scope.variant().waitsForLeases()
                || IntStream.range(0, contenders.size()).allMatch(c -> {
                    Contender contender = contenders.get(c);
                    return !contender.atRisk.contains(m)
                            || contender.overdue
                            || !counts(contender.protocol)
                            || (contender.protocol.phase() instanceof RedlockContenderState.Holding && isRenewable(c));
                });
    }

    private boolean isRenewable(int c) {
        String vote = attemptId(c) + RECORD + ROUND + contenders.get(c).protocol.round() + " ";
        return masters.stream()
                        .filter(master -> votes(master) && hasVote(master.server, vote))
                        .count()
                >= RedlockScope.MAJORITY;
    }

    private static boolean hasVote(RedisModel server, String start) {
        return server.keys().get(KEYS.grant()) instanceof StoredValue.Text vote
                && vote.text().startsWith(start);
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
        for (int c : new TreeSet<>(master.hints)) {
            String where = " from master " + m + " to contender " + c;
            steps.progress(() -> "hint" + where, next -> {
                next.masters.get(m).hints.remove((Integer) c);
                next.hint(m, c);
            });
            steps.fault(
                    Fault.LOST_HINT,
                    () -> "lost hint" + where,
                    next -> next.masters.get(m).hints.remove((Integer) c));
        }
        if (master.forced != NOBODY) {
            steps.add(
                    () -> "lost forced release at master " + m,
                    Kind.OPTIONAL,
                    next -> next.masters.get(m).forced = NOBODY);
            steps.progress(() -> "forced release of contender " + master.forced + " at master " + m, next -> {
                next.masters.get(m).forced = NOBODY;
                next.contenders.get(master.forced).kept = without(next.contenders.get(master.forced).kept, m);
                next.run(m, RedlockScript.FORCE_RELEASE, List.of(attemptId(master.forced), "1"));
            });
        }
        if (!master.silent) {
            steps.fault(Fault.DATA_LOSS, () -> "master " + m + " loses its data", next -> next.loseData(m));
            if (m == RedlockScope.MASTERS - 1
                    && faults.allows(Fault.FLUSHALL)
                    && contenders.stream().anyMatch(each -> each.core == CorePhase.HOLDING)) {
                steps.fault(Fault.FLUSHALL, () -> "all masters lose their data", Draft::loseAllData);
            }
            steps.fault(
                    Fault.RESTART, () -> "master " + m + " is restarted with its data", next -> next.restart(m, true));
            steps.fault(
                    Fault.RESTART,
                    () -> "master " + m + " is restarted with older data",
                    next -> next.restart(m, false));
        }
        Expiry expiry = expiry(master);
        if (expiry != Expiry.NEVER) {
            String what = "the vote at master " + m + " expires";
            switch (expiry) {
                case BY_CLOCK -> steps.fault(Fault.EXPIRY, () -> what, next -> next.run(m, "DEL", KEYS.grant()));
                case AFTER_DEADLINE -> steps.add(() -> what, Kind.OPTIONAL, next -> next.expire(m));
                case AFTER_DELAY -> steps.progress(() -> what, next -> next.expire(m));
                case NEVER -> {}
            }
        }
    }

    private static String name(Request request) {
        return request.effect.getClass().getSimpleName();
    }

    private enum Expiry {
        NEVER,
        BY_CLOCK,
        AFTER_DEADLINE,
        AFTER_DELAY
    }

    /**
     * Returns why a vote may expire. The deadline of a round counts from before its first request, and a vote's expiry from its
     * execution. So a vote that its round counts on does not expire before the deadline.
     */
    private Expiry expiry(Master master) {
        if (isForeign(master) || !(master.server.keys().get(KEYS.grant()) instanceof StoredValue.Text vote)) {
            return Expiry.NEVER;
        }
        boolean isKept = vote.text().startsWith(OwnerRecordCodec.KEPT_MARK);
        int id = isKept ? OwnerRecordCodec.KEPT_MARK.length() : 0;
        Contender voter = contenders.get(vote.text().charAt(id + ID_START.length()) - '0');
        if (isKept) { // while the release is repeated, the delay has not passed
            return voter.core == CorePhase.DONE ? Expiry.AFTER_DELAY : Expiry.NEVER;
        }
        boolean isOfRound = vote.text().contains(ROUND + voter.protocol.round() + " ");
        return voter.overdue
                ? Expiry.AFTER_DEADLINE
                : counts(voter.protocol) && isOfRound ? Expiry.NEVER : Expiry.BY_CLOCK;
    }

    private static boolean isForeign(Master master) {
        return master.server.keys().get(KEYS.grant()) instanceof StoredValue.Text text
                && text.text().equals(FOREIGN);
    }

    // ---- a world that is being changed

    private static final class LinkDraft {
        int epoch;
        boolean eligible;
        long since;
        boolean differs;
        final List<Request> sent;
        Cleanup cleanup;

        LinkDraft(Link from) {
            epoch = from.epoch;
            eligible = from.eligible;
            since = from.since;
            differs = from.differs;
            sent = new ArrayList<>(from.sent);
            cleanup = from.cleanup;
        }

        Link link() {
            return new Link(epoch, eligible, since, differs, List.copyOf(sent), cleanup);
        }
    }

    private static final class MasterDraft {
        RedisModel server;
        int run;
        final boolean silent;
        final List<LinkDraft> links;
        final List<Request> stray;
        final List<Integer> hints;
        int forced;

        MasterDraft(Master from) {
            server = from.server;
            run = from.run;
            silent = from.silent;
            links = from.links.stream().map(LinkDraft::new).toList();
            stray = new ArrayList<>(from.stray);
            hints = new ArrayList<>(from.hints);
            forced = from.forced;
        }

        Master master() {
            return new Master(
                    server,
                    run,
                    silent,
                    links.stream().map(LinkDraft::link).toList(),
                    List.copyOf(stray),
                    List.copyOf(hints),
                    forced);
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
        boolean delayed;
        boolean overdue;
        boolean displaced;
        Set<Integer> atRisk;
        Set<Integer> kept;
        boolean keptForGood;
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
            delayed = from.delayed;
            overdue = from.overdue;
            displaced = from.displaced;
            atRisk = from.atRisk;
            kept = from.kept;
            keptForGood = from.keptForGood;
        }

        Contender contender() {
            return new Contender(
                    protocol,
                    core,
                    woken,
                    gaveUp,
                    Set.copyOf(timers),
                    Set.copyOf(removalsDue),
                    token,
                    found,
                    delayed,
                    overdue,
                    displaced,
                    atRisk,
                    kept,
                    keptForGood);
        }
    }

    private static Set<Integer> with(Set<Integer> masters, int m) {
        Set<Integer> all = new TreeSet<>(masters);
        all.add(m);
        return Set.copyOf(all);
    }

    private static Set<Integer> without(Set<Integer> masters, int m) {
        return masters.stream().filter(each -> each != m).collect(Collectors.toUnmodifiableSet());
    }

    private static final class Draft {
        final List<MasterDraft> masters;
        final List<ContenderDraft> contenders;
        final RedlockScope scope;
        long now;
        FaultBudget<Fault> faults;
        long highestToken;
        boolean everHeld;
        boolean expired;
        Optional<String> broken;

        Draft(RedlockWorld from) {
            masters = from.masters.stream().map(MasterDraft::new).toList();
            contenders = from.contenders.stream().map(ContenderDraft::new).toList();
            scope = from.scope;
            now = from.now;
            faults = from.faults;
            highestToken = from.highestToken;
            everHeld = from.everHeld;
            expired = from.expired;
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
                    expired,
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
            ContenderDraft contender = contenders.get(c);
            contender.core = CorePhase.ATTEMPTING;
            contender.woken = false;
            startRound(contender);
            feed(c, new RedlockContenderEvent.Attempt(MUCH_LATER, LATER));
        }

        private static void startRound(ContenderDraft contender) {
            contender.overdue = false;
            contender.atRisk = Set.of();
        }

        void passDeadline(int c) {
            contenders.get(c).overdue = true;
            contenders.get(c).token = 0;
        }

        /** Returns this time, or one after the deadline of the contender's round if that is over. */
        private MonotonicInstant time(int c, MonotonicInstant otherwise) {
            return contenders.get(c).overdue ? AFTER_DEADLINE : otherwise;
        }

        void end(int c, boolean delayed) {
            Found found = contenders.get(c).core == CorePhase.END_FAILED ? Found.UNKNOWN : Found.NOT_ASKED;
            end(c, found, delayed);
            feed(c, delayed ? new RedlockContenderEvent.EndAfter(DELAY) : new RedlockContenderEvent.End(LATER));
        }

        /** Lets the kept votes expire; no request is that late. */
        void endAfterDelay(int c) {
            List.copyOf(contenders.get(c).kept).forEach(this::expire);
            Predicate<Request> isKeeping = request ->
                    request.contender == c && request.effect instanceof RedlockContenderEffect.SendDelayedRelease;
            masters.forEach(master -> {
                master.stray.removeIf(isKeeping);
                master.links.get(c).sent.removeIf(isKeeping);
            });
            end(c, false);
        }

        private void end(int c, Found found, boolean delayed) {
            ContenderDraft contender = contenders.get(c);
            contender.core = CorePhase.ENDING;
            contender.token = 0;
            contender.found = Collections.nCopies(RedlockScope.MASTERS, found);
            contender.delayed = delayed;
            contender.atRisk = Set.of();
        }

        void giveUp(int c) {
            if (contenders.get(c).core == CorePhase.ATTEMPTING) {
                contenders.get(c).gaveUp = true;
            } else {
                end(c, false);
            }
        }

        void fire(int c, Timer timer) {
            contenders.get(c).timers.remove(timer);
            switch (timer) {
                case WAKE_SOON -> wake(c);
                case HINTS -> feed(c, new RedlockContenderEvent.HintsDue());
                case PAUSE -> {
                    startRound(contenders.get(c));
                    feed(c, new RedlockContenderEvent.PauseOver(MUCH_LATER, !contenders.get(c).gaveUp));
                }
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
                end(c, Found.NOT_ASKED, false);
                contender.events.add(new RedlockContenderEvent.End(LATER));
            }
        }

        /** Compares the outcome of an end with what it has found, as far as the contender can know it. */
        private void ended(int c, boolean existed) {
            ContenderDraft contender = contenders.get(c);
            List<Found> found = contender.found;
            int had = 0;
            int hadNot = 0;
            for (int m = 0; m < masters.size(); m++) {
                boolean isThere = found.get(m).compareTo(Found.ASKED) <= 0 && hasVote(m, attemptId(c));
                had += found.get(m) == Found.VOTE || isThere ? 1 : 0;
                hadNot += found.get(m) == Found.NOTHING || found.get(m) == Found.NOT_ASKED ? 1 : 0;
            }
            int certain = existed ? hadNot : had;
            if (certain >= RedlockScope.MAJORITY) {
                broken = Optional.of(
                        "S05: the end of contender " + c + " says " + existed + ", and the masters had " + found);
            }
            contender.keptForGood = contender.delayed && existed;
            ended(c, CorePhase.DONE);
        }

        private boolean hasVote(int m, String start) {
            return RedlockWorld.hasVote(masters.get(m).server, start);
        }

        private void found(int m, int c, Found what) {
            ContenderDraft contender = contenders.get(c);
            if (contender.core == CorePhase.ENDING && contender.found.get(m).compareTo(Found.NOTHING) < 0) {
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
            contenders.get(c).found = Collections.nCopies(RedlockScope.MASTERS, Found.NOT_ASKED);
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
                        scope.variant().machine().apply(contender.protocol, contender.events.remove());
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
                feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, false), new NotExecuted()));
            } else if (!link.eligible && effect instanceof RedlockContenderEffect.SendToken token) {
                feed(c, new RedlockContenderEvent.TokenStored(m, token.round(), Answer.NONE, time(c, SOON)));
            } else if (!link.eligible && effect instanceof RedlockContenderEffect.SendDelayedRelease) {
                feed(c, new RedlockContenderEvent.KeepFailed(m, "it does not vote"));
            } else {
                link.sent.add(new Request(c, effect, link.epoch, now + REQUEST_TIMEOUT, true, false));
                boolean isEnd = effect instanceof RedlockContenderEffect.SendDelayedRelease
                        || (effect instanceof RedlockContenderEffect.SendRemoval removal && !removal.repeated());
                if (isEnd) {
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
            if (effect instanceof RedlockContenderEffect.SendDelayedRelease send) {
                return send.master();
            }
            if (effect instanceof RedlockContenderEffect.DeleteKeptVote delete) {
                return delete.master();
            }
            return effect instanceof RedlockContenderEffect.SendYield send
                    ? send.master()
                    : ((RedlockContenderEffect.SendRemoval) effect).master();
        }

        /** After the last round, it is too late to repeat a round with split votes. */
        private RedlockContenderEvent.Voted voted(
                int c, RedlockContenderEffect.SendAcquire acquire, MasterVote vote, Execution execution) {
            MonotonicInstant at = time(c, acquire.round() < scope.rounds() ? SOON : LATER);
            return new RedlockContenderEvent.Voted(acquire.master(), acquire.round(), vote, execution, at);
        }

        void fail(int m, Request request, MonotonicInstant at) {
            int c = request.contender;
            if (request.effect instanceof RedlockContenderEffect.SendAcquire acquire) {
                int epoch = request.again ? InDoubtRequests.OUT_OF_ORDER : request.epoch;
                InDoubt inDoubt = new InDoubt(epoch, request.notAfter);
                feed(c, voted(c, acquire, new MasterVote.Failed(NO_REPLY, true), inDoubt));
            } else if (request.effect instanceof RedlockContenderEffect.SendToken token) {
                feed(c, new RedlockContenderEvent.TokenStored(m, token.round(), Answer.NONE, time(c, SOON)));
            } else if (request.effect instanceof RedlockContenderEffect.SendYield) {
                feed(c, new RedlockContenderEvent.YieldFailed(m));
            } else if (request.effect instanceof RedlockContenderEffect.SendRemoval removal) {
                feed(c, new RedlockContenderEvent.RemovalFailed(m, removal.forCleanup(), NO_REPLY, at));
            } else if (request.effect instanceof RedlockContenderEffect.SendDelayedRelease) {
                feed(c, new RedlockContenderEvent.KeepFailed(m, "no reply"));
            } else {
                send(c, request.effect); // a vote that is not kept is deleted in the background, until that has a reply
            }
        }

        /** Replaces the connection by a new one, which wakes the contender if it waits. */
        void loseConnection(int m, int c, MonotonicInstant at) {
            LinkDraft lost = masters.get(m).links.get(c);
            List<Request> unanswered = List.copyOf(lost.sent);
            lost.sent.clear();
            lost.epoch++;
            unanswered.stream().filter(request -> request.awaited).forEach(request -> fail(m, request, at));
            if (lost.eligible) {
                wakeWaiter(c);
            }
        }

        private void wakeWaiter(int c) {
            ContenderDraft contender = contenders.get(c);
            if (contender.protocol.mayWait() && contender.protocol.mayNeedHints()) {
                wake(c);
            }
        }

        void expire(int m) {
            run(m, "DEL", KEYS.grant());
            contenders.forEach(each -> each.kept = without(each.kept, m));
            expired = true;
        }

        // ---- lost data and quarantine

        void loseData(int m) {
            MasterDraft master = masters.get(m);
            if (!master.silent) {
                master.server = RedisModel.EMPTY.withSubscribed(master.server.subscribed());
                forget(m);
            }
        }

        /** Clients that have made no attempt so far connect afterwards. */
        void loseAllData() {
            for (int m = 0; m < RedlockScope.MASTERS; m++) {
                loseData(m);
                for (int c = 0; c < contenders.size(); c++) {
                    masters.get(m).links.get(c).eligible &= contenders.get(c).core != CorePhase.NEW;
                }
            }
        }

        void restart(int m, boolean hasLastVote) {
            MasterDraft master = masters.get(m);
            master.run++;
            if (!hasLastVote) {
                Map<String, StoredValue> older = new HashMap<>(master.server.keys());
                older.keySet().retainAll(Set.of(KEYS.state()));
                master.server = new RedisModel(older, master.server.subscribed());
            }
            forget(m);
            master.stray.clear();
            for (int c = 0; c < contenders.size(); c++) {
                master.links.get(c).eligible = false;
                loseConnection(m, c, LATER);
                handshake(m, c);
            }
        }

        private void forget(int m) {
            for (ContenderDraft contender : contenders) {
                if (counts(contender.protocol) && scope.has(Option.QUARANTINE_ENDS)) {
                    contender.atRisk = with(contender.atRisk, m);
                }
                if (!hasVote(m, OwnerRecordCodec.KEPT_MARK)) {
                    contender.kept = without(contender.kept, m);
                }
            }
        }

        void handshake(int m, int c) {
            LinkDraft link = masters.get(m).links.get(c);
            List<?> state = sendHandshake(m, c);
            String stored = String.valueOf(state.get(3));
            link.differs = !stored.equals("0") && !stored.equals(maxLease(c));
            link.since = state.get(0).equals(1L) ? 0 : (Long) state.get(2);
            if (link.since == 0 && !link.differs) {
                link.eligible = true;
                wakeWaiter(c);
            }
        }

        /** A client with the wrong {@code maxLease} has never had a majority that could have told it so. */
        private List<?> sendHandshake(int m, int c) {
            String known = scope.hasWrongMaxLease(c) ? "0" : MAX_LEASE;
            return run(
                    m,
                    RedlockScript.HANDSHAKE,
                    List.of(KEYS.state()),
                    List.of(runId(masters.get(m).run), known, CHANNEL + "*"));
        }

        private String maxLease(int c) {
            return scope.hasWrongMaxLease(c) ? WRONG_MAX_LEASE : MAX_LEASE;
        }

        /** Counters are those of the voting masters, if these include a member of each majority, or else the clock. */
        void endQuarantine(int m, int c) {
            now += QUARANTINE;
            long voting = 0;
            long highest = 0;
            for (MasterDraft other : masters) {
                if (other.links.get(c).eligible) {
                    voting++;
                    Object counter = other.server
                            .run(now, "HGET", KEYS.state(), KEYS.bucket())
                            .reply();
                    highest = Math.max(highest, counter == null ? 0 : Long.parseLong((String) counter));
                }
            }
            boolean raiseToClock = voting < new Quorum(RedlockScope.MASTERS).recoveryQuorum();
            run(
                    m,
                    RedlockScript.LEAVE_QUARANTINE,
                    List.of(KEYS.state()),
                    List.of(
                            runId(masters.get(m).run),
                            String.valueOf(masters.get(m).links.get(c).since),
                            maxLease(c),
                            raiseToClock ? "1" : "0",
                            "0",
                            CHANNEL + "*",
                            KEYS.bucket(),
                            String.valueOf(highest)));
            handshake(m, c);
        }

        // ---- the masters

        void execute(int m, Request request, boolean replied) {
            int c = request.contender;
            String id = attemptId(c);
            Optional<RedlockContenderEvent> event = Optional.empty();
            if (request.effect instanceof RedlockContenderEffect.SendAcquire acquire) {
                List<String> args = new ArrayList<>(List.of(
                        runId(masters.get(m).run),
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
                        List.of(
                                runId(masters.get(m).run),
                                KEYS.bucket(),
                                id,
                                String.valueOf(token.round()),
                                String.valueOf(token.token())));
                Answer answer = reply.get(0) instanceof String
                        ? Answer.NONE
                        : reply.get(0).equals(1L) ? Answer.YES : Answer.NO;
                event = Optional.of(new RedlockContenderEvent.TokenStored(m, token.round(), answer, time(c, SOON)));
            } else if (request.effect instanceof RedlockContenderEffect.SendYield yield) {
                List<String> args =
                        new ArrayList<>(List.of(id, String.valueOf(yield.round()), yield.wakes() ? "1" : "0"));
                if (contenders.get(c).protocol.mayWait()) {
                    args.addAll(List.of(record(c), LEASE_MILLIS));
                    args.addAll(queueArgs(c));
                }
                run(m, RedlockScript.YIELD_VOTE, args);
            } else if (request.effect instanceof RedlockContenderEffect.SendRemoval removal) {
                boolean seen = replied && !removal.repeated(); // an earlier try may have deleted the vote
                found(m, c, hasVote(m, id) ? Found.VOTE : seen ? Found.NOTHING : Found.NOTHING_UNSEEN);
                List<?> reply = run(m, RedlockScript.RELEASE, List.of(id, removal.withTime() ? "1" : "0"));
                event = Optional.of(new RedlockContenderEvent.Removed(
                        m,
                        removal.forCleanup(),
                        removal.repeated(),
                        reply.get(0).equals(1L),
                        request.epoch,
                        reply.size() > 2 ? (Long) reply.get(2) : 0));
            } else if (request.effect instanceof RedlockContenderEffect.SendDelayedRelease) {
                event = Optional.of(keep(c, m, request, replied));
            } else {
                run(m, RedlockScript.RELEASE, List.of(OwnerRecordCodec.KEPT_MARK + id, "0"));
                if (!contenders.get(c).keptForGood) {
                    contenders.get(c).kept = without(contenders.get(c).kept, m);
                }
            }
            if (replied) {
                event.ifPresent(reply -> feed(c, reply));
            }
        }

        private RedlockContenderEvent keep(int c, int m, Request request, boolean replied) {
            String id = attemptId(c);
            boolean had = hasVote(m, id) || hasVote(m, OwnerRecordCodec.KEPT_MARK + id);
            List<?> reply = run(
                    m,
                    RedlockScript.RELEASE_AFTER,
                    List.of(id, String.valueOf(DELAY.toMillis()), "", runId(masters.get(m).run)));
            if (reply.get(0) instanceof String) {
                masters.get(m).links.get(c).eligible = false;
                return new RedlockContenderEvent.KeepFailed(m, "it does not vote");
            }
            found(m, c, had ? Found.VOTE : replied ? Found.NOTHING : Found.NOTHING_UNSEEN);
            if (had) {
                contenders.get(c).kept = with(contenders.get(c).kept, m);
            }
            return new RedlockContenderEvent.Kept(m, reply.get(0).equals(1L), request.epoch, (Long) reply.get(1));
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
                MasterVote vote = new MasterVote.Failed(NO_REPLY, false);
                return new RedlockContenderEvent.CameTooLate(
                        m, acquire.round(), acquire.tries(), refused, vote, time(c, SOON));
            }
            if (reply.get(0) instanceof Long counter) {
                return voted(c, acquire, new MasterVote.Granted(counter), execution);
            }
            if (reply.get(0).equals("busy")) {
                return voted(c, acquire, new MasterVote.Conflicted(String.valueOf(reply.get(2)), 0, 0), execution);
            }
            masters.get(m).links.get(c).eligible = false;
            return voted(c, acquire, new MasterVote.Failed(NO_REPLY, false), execution);
        }

        void run(int m, String... command) {
            masters.get(m).server = masters.get(m).server.run(now, command).next();
        }

        List<?> run(int m, RedlockScript script, List<String> args) {
            return run(m, script, List.of(KEYS.all()), args);
        }

        private List<?> run(int m, RedlockScript script, List<String> keys, List<String> args) {
            MasterDraft master = masters.get(m);
            ScriptOutcome executed = RESULTS.computeIfAbsent(
                    new Run(master.server, now, scope.variant().script().apply(script), keys, args), Draft::execute);
            RedisModel.Result result = executed.result;
            master.server = executed.server;
            for (RedisModel.Message message : result.published()) { // it arrives on a connection of its own
                int receiver = Integer.parseInt(message.channel().substring(CHANNEL.length()));
                if (message.text().equals(QUARANTINED)) {
                    if (master.links.get(receiver).eligible) {
                        sendHandshake(m, receiver);
                    }
                } else if (scope.has(Option.LATE_HINTS)) {
                    master.hints.add(receiver);
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
                run(m, RedlockScript.RELEASE, List.of(attemptId(receiver), "0", RECORD));
            }
        }

        private static ScriptOutcome execute(Run run) {
            RedisModel.Result result = LUA.run(run.server, run.now, run.script, run.keys, run.args);
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
        if (contenders.stream()
                        .filter(each -> each.token != 0 && !each.displaced)
                        .count()
                > 1) {
            return Optional.of("S01: two contenders hold the lock"); // before S03, which that breaks as well
        }
        if (broken.isPresent()) {
            return broken;
        }
        for (int c = 0; c < contenders.size(); c++) {
            String vote = OwnerRecordCodec.KEPT_MARK + attemptId(c);
            if (!contenders.get(c).kept.stream().allMatch(m -> hasVote(masters.get(m).server, vote))) {
                return Optional.of("S05: a vote that contender " + c + " keeps for a delay is gone before it is over");
            }
        }
        if (isWakeUpLost()) {
            return Optional.of("S11: the lock is free, and a contender waits that nothing will wake");
        }
        if (!isFinal()) {
            return Optional.empty();
        }
        for (int c = 0; c < contenders.size(); c++) {
            String id = attemptId(c);
            boolean mayKeep = contenders.get(c).keptForGood;
            if (masters.stream()
                    .filter(master -> !mayKeep || !hasVote(master.server, OwnerRecordCodec.KEPT_MARK + id))
                    .anyMatch(master -> master.server.keys().toString().contains(id))) {
                return Optional.of("S08: contender " + c + " has ended, and a master still has something of it");
            }
        }
        boolean exhausted = contenders.stream()
                .anyMatch(each -> each.protocol.round() >= scope.rounds()
                        || each.protocol.splitRounds() >= RedlockContenderState.MOST_SPLIT_ROUNDS);
        if (scope.faults() == 0 && !scope.has(Option.GIVES_UP) && !everHeld && !exhausted) {
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
                    || contender.displaced
                    || contender.core == CorePhase.DONE)) {
                return false;
            }
        }
        return awaited
                && isQuiet()
                && contenders.stream().allMatch(each -> each.timers.isEmpty())
                && masters.stream()
                                .filter(master ->
                                        votes(master) && !master.server.keys().containsKey(KEYS.grant()))
                                .count()
                        >= RedlockScope.MAJORITY;
    }

    /** Returns whether nothing is on its way to a master. */
    private boolean isQuiet() {
        return contenders.stream().allMatch(each -> each.removalsDue.isEmpty())
                && masters.stream()
                        .allMatch(master -> master.stray.isEmpty()
                                && master.hints.isEmpty()
                                && master.forced == NOBODY
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
        if (contenders.stream().anyMatch(each -> each.keptForGood)) {
            present.add("kept for a delay");
        }
        if (contenders.stream().anyMatch(each -> each.displaced)) {
            present.add("displaced");
        }
        if (contenders.stream().anyMatch(each -> each.overdue)) {
            present.add("overdue");
        }
        if (masters.stream().anyMatch(master -> !master.silent && !votes(master))) {
            present.add("quarantined");
        } else if (now > START + QUARANTINE) {
            present.add("out of quarantine");
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
        key.number(now).number(highestToken).number(faults.left()).flags(everHeld, expired);
        List<int[]> orders = ORDERS.computeIfAbsent(scope.waits(), waits -> orders(waits, List.of()));
        if (orders.size() == 1) {
            describe(key, orders.get(0));
        } else {
            key.leastOf(orders, order -> describe(key, order));
        }
    }

    /** Returns all orders in which those that do not wait are permuted. */
    private static List<int[]> orders(List<Boolean> waits, List<Integer> chosen) {
        if (chosen.size() == waits.size()) {
            return List.of(chosen.stream().mapToInt(each -> each).toArray());
        }
        boolean isFixed = waits.get(chosen.size());
        return IntStream.range(0, waits.size())
                .filter(c -> !chosen.contains(c) && (isFixed ? c == chosen.size() : !waits.get(c)))
                .boxed()
                .flatMap(c -> orders(
                        waits, Stream.concat(chosen.stream(), Stream.of(c)).toList())
                        .stream())
                .toList();
    }

    private void describe(StateKey key, int[] order) {
        for (int c : order) {
            Contender contender = contenders.get(c);
            RedlockContenderState protocol = contender.protocol;
            key.value("\ncontender").value(contender.core).flags(contender.woken, contender.gaveUp);
            for (Timer timer : Timer.values()) {
                key.flags(contender.timers.contains(timer));
            }
            key.flags(contender.delayed, contender.overdue, contender.displaced, contender.keptForGood);
            key.number(contender.token).value(protocol.phase().getClass());
            if (protocol.phase() instanceof RedlockContenderState.Ended ended) {
                key.flags(ended.notKept() != null);
            }
            if (protocol.phase() instanceof RedlockContenderState.StoringToken storing) {
                key.number(storing.token());
            }
            // Only attempts that do not wait count their split rounds.
            key.number(protocol.mayWait() ? Math.min(1, protocol.splitRounds()) : protocol.splitRounds());
            key.number(scope.rounds() < Integer.MAX_VALUE ? protocol.round() : 0);
        }
        key.unordered(IntStream.range(0, masters.size()).boxed().toList(), (into, m) -> describe(into, m, order));
    }

    private void describe(StateKey key, int m, int[] order) {
        Master master = masters.get(m);
        key.value("\nmaster").number(master.run).flags(master.silent);
        if (master.forced != NOBODY) {
            key.participant(master.forced);
        }
        key.list(master.hints, StateKey::participant);
        new TreeMap<>(master.server.keys()).forEach((name, value) -> describe(key.value(name), value));
        for (int c : order) {
            Link link = master.links.get(c);
            RedlockContenderState protocol = contenders.get(c).protocol;
            AttemptAtMaster attempt = protocol.masters().get(m);
            key.value("\nlink")
                    .number(link.epoch)
                    .number(link.since)
                    .value(link.cleanup)
                    .number(attempt.awaited());
            key.flags(
                    link.eligible,
                    link.differs,
                    contenders.get(c).atRisk.contains(m),
                    contenders.get(c).kept.contains(m),
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
                : phase instanceof RedlockContenderState.Releasing releasing
                        ? releasing.held()
                        : phase instanceof RedlockContenderState.Delaying delaying ? delaying.kept() : null;
        return answers == null ? null : answers.of(m);
    }

    private void describe(StateKey key, Request request) {
        int round = contenders.get(request.contender).protocol.round();
        RedlockContenderEffect effect = request.effect;
        key.participant(request.contender).value(effect.getClass()).number(request.epoch);
        key.flags(request.awaited, request.again);
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
