// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.Defect;
import io.mortise.lock.explorer.Exploration;
import io.mortise.lock.explorer.ProtocolExplorer;
import io.mortise.lock.explorer.ProtocolPage;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.DeleteKeptVote;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Plain;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.StartCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CleanupEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Kept;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Removed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.VoteMissing;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Voted;
import io.mortise.lock.redlock.grant.RedlockContenderState.Delaying;
import io.mortise.lock.redlock.grant.RedlockContenderState.Ended;
import io.mortise.lock.redlock.grant.RedlockContenderState.Step;
import io.mortise.lock.redlock.grant.RedlockScope.Fault;
import io.mortise.lock.redlock.grant.RedlockScope.Option;
import io.mortise.lock.redlock.grant.RedlockScope.Variant;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Explores the interleavings of the Redlock protocol: the production state machine and scripts, in a modelled world. */
@Tag("once")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RedlockExplorationTest {
    private static final ProtocolPage PAGE = new ProtocolPage("redlock");
    private static final ProtocolExplorer<RedlockScope, RedlockWorld> EXPLORER = new ProtocolExplorer<>(
            RedlockWorld::new, scope -> scope.with(Variant.PRODUCTION), scope -> false, 20_000_000);

    private static final RedlockScope WAITERS = RedlockScope.of("ww", 2);
    private static final RedlockScope TRIERS = RedlockScope.of("tt", 2);
    private static final RedlockScope SPLIT =
            RedlockScope.of("tt", RedlockScope.ANY).silent(1);
    private static final RedlockScope SPLIT_WAITERS =
            RedlockScope.of("ww", RedlockScope.ANY).silent(1);

    /** Their first rounds leave masters with different counters. */
    private static final RedlockScope HELD = TRIERS.foreign(2);

    private static final RedlockScope LATE = RedlockScope.of("w", 1).faults(2, Fault.LATE_EXECUTION);
    private static final RedlockScope SLOW_REPLIES = RedlockScope.of("t", 1).faults(2, Fault.SLOW_REPLY);
    private static final RedlockScope SENT_AGAIN =
            RedlockScope.of("t", 1).with(Option.DELAYED_RELEASE).faults(2, Fault.UNKNOWN_SCRIPT, Fault.SLOW_REPLY);
    private static final RedlockScope DATA_LOSS = RedlockScope.of("tt", 1).faults(1, Fault.DATA_LOSS);
    private static final RedlockScope RESTART = RedlockScope.of("tt", 1).faults(1, Fault.RESTART);
    private static final RedlockScope TWO_WAIT_AND_TWO_VOTE =
            RedlockScope.of("ww", 1).silent(1);
    private static final RedlockScope DEADLINE = TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.DEADLINE);
    private static final RedlockScope FORCED_RELEASE = TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.FORCED_RELEASE);
    private static final RedlockScope LOST_HINT =
            RedlockScope.of("ww", 2).silent(1).with(Option.LATE_HINTS).faults(1, Fault.LOST_HINT);
    private static final RedlockScope CANCELLED = RedlockScope.of("w", 1)
            .with(Option.GIVES_UP)
            .faults(1, Fault.SLOW_REPLY, Fault.LATE_EXECUTION, Fault.DEADLINE);
    private static final RedlockScope TWO_CANCELLED = TWO_WAIT_AND_TWO_VOTE.with(Option.GIVES_UP);
    private static final RedlockScope SLOW_WAITERS = TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.SLOW_REPLY);
    private static final RedlockScope FLUSHALL =
            RedlockScope.of("tt", 1).silent(1).with(Option.QUARANTINE_ENDS).faults(1, Fault.FLUSHALL);
    private static final RedlockScope WRONG_MAX_LEASE = FLUSHALL.with(Option.QUARANTINE_ENDS, Option.WRONG_MAX_LEASE);
    private static final RedlockScope NOT_KEPT =
            RedlockScope.of("t", 1).with(Option.DELAYED_RELEASE).faults(1, Fault.FORCED_RELEASE);
    private static final RedlockScope ORPHANS =
            RedlockScope.of("tt", 1).silent(1).with(Option.ONE_CLIENT).faults(1, Fault.CUT);
    private static final RedlockScope RENEWED =
            RedlockScope.of("tt", 1).silent(1).with(Option.RENEWAL);

    /** Another has a vote first, which is requested again a lease later. */
    private static final RedlockScope RECOVERED =
            RedlockScope.of("t", 1).foreign(1).with(Option.RENEWAL);

    private static final RedlockScope RENEWED_BY_THREE =
            RedlockScope.of("tt", 1).with(Option.RENEWAL);
    private static final RedlockScope LATE_RECOVERED = RECOVERED.faults(1, Fault.LATE_EXECUTION);

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void S01_S03_S05_S08_S09_S11_theRulesHold(String row, RedlockScope scope, List<String> reached) {
        Exploration<RedlockWorld> explored = EXPLORER.assertRulesHold(scope);
        reached.forEach(each -> explored.assertReaches(each, true));
        if (scope.faults() > 0) {
            Exploration<RedlockWorld> withoutFaults = EXPLORER.assertRulesHold(scope.withoutFaults());
            assertThat(reached)
                    .as("effects of the faults")
                    .anyMatch(each -> !withoutFaults.situations().containsKey(each));
        }
        PAGE.assertShows("| " + row + " |", explored);
    }

    static Stream<Arguments> S01_S03_S05_S08_S09_S11_theRulesHold() {
        return Stream.of(
                Arguments.of("two wait, 2 rounds", WAITERS, List.of("Holding", "StoringToken")),
                Arguments.of(
                        "two wait and may give up, 1 round",
                        RedlockScope.of("ww", 1).with(Option.GIVES_UP),
                        List.of("given up")),
                Arguments.of(
                        "one waits and may give up, 1 round, a slow reply, a late execution or a deadline",
                        CANCELLED,
                        List.of("given up, in doubt", "given up, overdue", "late")),
                Arguments.of(
                        "two wait and may give up, a master is silent, 1 round, a deadline passes",
                        TWO_CANCELLED.faults(1, Fault.DEADLINE),
                        List.of("given up, overdue")),
                Arguments.of("two wait, a master is silent", SPLIT_WAITERS, List.of("Holding")),
                Arguments.of("two try, 2 rounds", TRIERS, List.of("Holding")),
                Arguments.of("two try, a master is silent", SPLIT, List.of("Pausing", "Holding")),
                Arguments.of("two try, another has the lock first, 2 rounds", HELD, List.of("Pausing", "Holding")),
                Arguments.of(
                        "two try, 1 round, delayed release",
                        RedlockScope.of("tt", 1).with(Option.DELAYED_RELEASE),
                        List.of("Delaying", "kept for a delay")),
                Arguments.of(
                        "one waits, 1 round, two late executions",
                        LATE,
                        List.of("late", "cleanup", "release repeated")),
                Arguments.of(
                        "two try, a master is silent, 1 round, a late execution",
                        RedlockScope.of("tt", 1).silent(1).faults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup")),
                Arguments.of(
                        "two try, a master is silent, 1 round, a slow reply",
                        RedlockScope.of("tt", 1).silent(1).faults(1, Fault.SLOW_REPLY),
                        List.of("cleanup", "release repeated")),
                Arguments.of("one tries, 1 round, two slow replies", SLOW_REPLIES, List.of("release repeated")),
                Arguments.of(
                        "one tries, 1 round, delayed release, two of an unknown script and a slow reply",
                        SENT_AGAIN,
                        List.of("EndFailed", "cleanup", "kept for a delay")),
                Arguments.of(
                        "one tries, 1 round, delayed release, a forced release",
                        NOT_KEPT,
                        List.of("kept for a delay", "displaced")),
                Arguments.of("two try, 1 round, a loss of data", DATA_LOSS, List.of("held by a minority")),
                Arguments.of(
                        "two wait, a master is silent, 1 round, a loss of data",
                        TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.DATA_LOSS),
                        List.of("held by a minority")),
                Arguments.of(
                        "two try, a master is silent, 1 round, FLUSHALL, quarantines end",
                        FLUSHALL,
                        List.of("overdue", "out of quarantine")),
                Arguments.of(
                        "two try, a master is silent, 1 round, one with a wrong `maxLease`, FLUSHALL, quarantines end",
                        WRONG_MAX_LEASE,
                        List.of("quarantined", "overdue")),
                Arguments.of(
                        "two try, 1 round, an expiry",
                        RedlockScope.of("tt", 1).faults(1, Fault.EXPIRY),
                        List.of("taken before its deletion")),
                Arguments.of(
                        "two try, a master is silent, 2 rounds, an expiry",
                        TRIERS.silent(1).faults(1, Fault.EXPIRY),
                        List.of("Pausing", "taken before its deletion")),
                Arguments.of(
                        "two wait, a master is silent, 1 round, an expiry",
                        TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.EXPIRY),
                        List.of("taken before its deletion")),
                Arguments.of("two wait, a master is silent, 1 round, a deadline passes", DEADLINE, List.of("overdue")),
                Arguments.of(
                        "two wait, a master is silent, 1 round, a forced release",
                        FORCED_RELEASE,
                        List.of("displaced")),
                Arguments.of(
                        "two wait, a master is silent, 2 rounds, late hints and a lost one",
                        LOST_HINT,
                        List.of("hint lost")),
                Arguments.of(
                        "two wait in one client and may give up, 2 rounds",
                        WAITERS.with(Option.ONE_CLIENT, Option.GIVES_UP),
                        List.of("given up", "Holding")),
                Arguments.of("two try, a master is silent, 1 round, renewals", RENEWED, List.of("renewed", "overdue")),
                Arguments.of(
                        "one tries, another has a vote first, 1 round, renewals",
                        RECOVERED,
                        List.of("renewed", "recovered")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void S01_S03_S05_S08_S11_theRulesHoldInLargerScopes(String row, RedlockScope scope, List<String> reached) {
        S01_S03_S05_S08_S09_S11_theRulesHold(row, scope, reached);
    }

    static Stream<Arguments> S01_S03_S05_S08_S11_theRulesHoldInLargerScopes() {
        RedlockScope waiters = RedlockScope.of("ww", 1);
        return Stream.of(
                Arguments.of(
                        "three wait, a master is silent, 1 round",
                        RedlockScope.of("www", 1).silent(1),
                        List.of("Holding")),
                Arguments.of(
                        "one waits, two try, a master is silent, 1 round",
                        RedlockScope.of("wtt", 1).silent(1),
                        List.of("Holding")),
                Arguments.of(
                        "one waits, one tries, another has the lock first, 1 round",
                        RedlockScope.of("wt", 1).foreign(2),
                        List.of("Holding")),
                Arguments.of(
                        "two wait, 1 round, delayed release",
                        waiters.with(Option.DELAYED_RELEASE),
                        List.of("kept for a delay")),
                Arguments.of(
                        "two try, 1 round, a late execution",
                        RedlockScope.of("tt", 1).faults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup")),
                Arguments.of(
                        "one waits, 2 rounds, two late executions",
                        RedlockScope.of("w", 2).faults(2, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup", "release repeated")),
                Arguments.of(
                        "two try, 1 round, a slow reply",
                        RedlockScope.of("tt", 1).faults(1, Fault.SLOW_REPLY),
                        List.of("cleanup", "release repeated")),
                Arguments.of("two try, 1 round, a restart with data", RESTART, List.of("quarantined", "cleanup")),
                Arguments.of(
                        "two wait, a master is silent, 1 round, a slow reply",
                        SLOW_WAITERS,
                        List.of("WithoutQuorum", "cleanup")),
                Arguments.of(
                        "two wait, a master is silent, 1 round, a late execution",
                        TWO_WAIT_AND_TWO_VOTE.faults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup", "Holding")),
                Arguments.of(
                        "one waits and may give up, 1 round, two of a slow reply, a late execution and a deadline",
                        CANCELLED.faults(2, Fault.SLOW_REPLY, Fault.LATE_EXECUTION, Fault.DEADLINE),
                        List.of("given up, in doubt", "given up, overdue", "late")),
                Arguments.of(
                        "two wait and may give up, a master is silent, 1 round, a slow reply",
                        TWO_CANCELLED.faults(1, Fault.SLOW_REPLY),
                        List.of("given up, in doubt")),
                Arguments.of(
                        "two wait and may give up, a master is silent, 1 round, a late execution",
                        TWO_CANCELLED.faults(1, Fault.LATE_EXECUTION),
                        List.of("given up, in doubt", "late")),
                Arguments.of(
                        "two try, 1 round, delayed release, an unknown script",
                        RedlockScope.of("tt", 1).with(Option.DELAYED_RELEASE).faults(1, Fault.UNKNOWN_SCRIPT),
                        List.of("cleanup", "kept for a delay")),
                Arguments.of(
                        "one tries, 1 round, delayed release, two of most faults",
                        RedlockScope.of("t", 1)
                                .with(Option.DELAYED_RELEASE)
                                .faults(
                                        2,
                                        Fault.SLOW_REPLY,
                                        Fault.LATE_EXECUTION,
                                        Fault.UNKNOWN_SCRIPT,
                                        Fault.DATA_LOSS,
                                        Fault.RESTART,
                                        Fault.FORCED_RELEASE),
                        List.of("late", "cleanup", "kept for a delay", "displaced")),
                Arguments.of(
                        "two wait, 1 round, a loss of data",
                        waiters.faults(1, Fault.DATA_LOSS),
                        List.of("held by a minority")),
                Arguments.of(
                        "two wait, 1 round, an expiry",
                        waiters.faults(1, Fault.EXPIRY),
                        List.of("taken before its deletion")),
                Arguments.of(
                        "one waits, one tries, 1 round, a deadline passes",
                        RedlockScope.of("wt", 1).faults(1, Fault.DEADLINE),
                        List.of("overdue")),
                Arguments.of(
                        "two try, 1 round, a forced release",
                        RedlockScope.of("tt", 1).faults(1, Fault.FORCED_RELEASE),
                        List.of("displaced")),
                Arguments.of(
                        "two wait, 1 round, late hints and a lost one",
                        waiters.with(Option.LATE_HINTS).faults(1, Fault.LOST_HINT),
                        List.of("hint lost")),
                Arguments.of(
                        "two wait in one client, a master is silent, 1 round, a late execution",
                        TWO_WAIT_AND_TWO_VOTE.with(Option.ONE_CLIENT).faults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup", "Holding")),
                Arguments.of(
                        "two try in one client, a master is silent, 1 round, its connections are lost",
                        ORPHANS,
                        List.of("late", "cleanup")),
                Arguments.of(
                        "two try in one client, 1 round, a late execution",
                        RedlockScope.of("tt", 1).with(Option.ONE_CLIENT).faults(1, Fault.LATE_EXECUTION),
                        List.of("late", "cleanup")),
                Arguments.of("two try, 1 round, renewals", RENEWED_BY_THREE, List.of("renewed", "overdue")),
                Arguments.of(
                        "one tries, another has a vote first, 1 round, renewals, a slow reply",
                        RECOVERED.faults(1, Fault.SLOW_REPLY),
                        List.of("recovered", "cleanup")),
                Arguments.of(
                        "one tries, another has a vote first, 1 round, renewals, a loss of data",
                        RECOVERED.faults(1, Fault.DATA_LOSS),
                        List.of("recovered", "quarantined")),
                Arguments.of(
                        "one tries, another has a vote first, 1 round, renewals, a forced release",
                        RECOVERED.faults(1, Fault.FORCED_RELEASE),
                        List.of("recovered", "displaced")),
                Arguments.of(
                        "one tries, another has a vote first, 1 round, renewals, a late execution",
                        LATE_RECOVERED,
                        List.of("renewed", "recovered", "late")));
    }

    /** For {@code ./verify --deep}: minutes, and gigabytes of memory. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @EnabledIfSystemProperty(named = "mortise.explore", matches = "deep")
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void S01_S03_S05_S08_S11_theDeepModeKeepsTheRules(RedlockScope scope) {
        EXPLORER.assertRulesHoldAsFarAsExplored(scope);
    }

    static Stream<RedlockScope> S01_S03_S05_S08_S11_theDeepModeKeepsTheRules() {
        RedlockScope waiters = RedlockScope.of("ww", 1);
        return Stream.of(
                waiters.faults(1, Fault.SLOW_REPLY),
                waiters.faults(1, Fault.RESTART),
                waiters.faults(1, Fault.FORCED_RELEASE),
                waiters.faults(1, Fault.DEADLINE),
                waiters.faults(1, Fault.LATE_EXECUTION),
                FLUSHALL.silent(0),
                RedlockScope.of("tt", 1).with(Option.QUARANTINE_ENDS).faults(1, Fault.DATA_LOSS),
                RedlockScope.of("ttt", 1),
                RedlockScope.of("wtt", 1),
                RedlockScope.of("www", 1),
                RedlockScope.of("www", 2).silent(1),
                RedlockScope.of("tt", 1).silent(1).faults(2, Fault.LATE_EXECUTION, Fault.SLOW_REPLY),
                RedlockScope.of("tt", 1).silent(1).with(Option.ONE_CLIENT).faults(2, Fault.LATE_EXECUTION),
                waiters.with(Option.ONE_CLIENT).faults(1, Fault.LATE_EXECUTION),
                RedlockScope.of("tt", 1).foreign(1).with(Option.RENEWAL),
                RENEWED_BY_THREE.faults(1, Fault.SLOW_REPLY),
                RECOVERED.faults(2, Fault.LATE_EXECUTION, Fault.SLOW_REPLY));
    }

    /** The exploration is worth what it finds: each defect is one that the protocol could have, or has had. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aDefectIsFound(Defect<RedlockScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<RedlockScope>> aDefectIsFound() {
        return Stream.of(
                new Defect<>(
                        "a late acquire is executed",
                        "S08",
                        LATE.with(script(RedlockScript.ACQUIRE, "now > tonumber(not_after)", "false"))),
                new Defect<>(
                        "no cleanup after an unknown outcome",
                        "S08",
                        LATE.with(without(StartCleanup.class::isInstance))),
                new Defect<>(
                        "the token is not stored",
                        "S03",
                        HELD.with(script(
                                RedlockScript.RAISE_TOKEN,
                                "if tonumber(state[2] or 0) < tonumber(token) then",
                                "if false then"))),
                new Defect<>(
                        "a master without data votes",
                        "S01",
                        DATA_LOSS.with(script(RedlockScript.ACQUIRE, "if state[1] ~= run then", "if false then"))),
                new Defect<>(
                        "the votes of a lost round are kept",
                        "S11",
                        SPLIT_WAITERS.with(without(SendYield.class::isInstance))),
                new Defect<>("split votes are not repeated", "S09", SPLIT.with(withoutPauses())),
                new Defect<>(
                        "a release wakes nobody",
                        "S11",
                        WAITERS.with(script(RedlockScript.RELEASE, "more_dead = wake_first(now)", ""))),
                new Defect<>(
                        "a yield wakes nobody",
                        "S11",
                        DEADLINE.with(script(RedlockScript.YIELD_VOTE, "if wakes == '1' and", "if false and"))),
                new Defect<>(
                        "a forced release wakes nobody",
                        "S11",
                        FORCED_RELEASE.with(script(RedlockScript.FORCE_RELEASE, "wake_first(micros())", ""))),
                new Defect<>(
                        "the hint of one master wakes nobody",
                        "S11",
                        LOST_HINT.with(without(Plain.AWAIT_HINTS::equals))),
                new Defect<>(
                        "a grant is reported after its deadline",
                        "S01",
                        DEADLINE.with(event(RedlockExplorationTest::early))),
                new Defect<>(
                        "each end says that there was a grant",
                        "S05",
                        TRIERS.with(effect(each -> each instanceof ReportEnded ? new ReportEnded(true) : each))),
                new Defect<>(
                        "a repeated release that finds nothing says so",
                        "S05",
                        SLOW_REPLIES.with(event(each -> each instanceof Removed removed
                                ? new Removed(
                                        removed.master(),
                                        removed.forCleanup(),
                                        false,
                                        removed.held(),
                                        removed.epoch(),
                                        removed.time())
                                : each))),
                new Defect<>(
                        "a removal finds the vote that is kept",
                        "S05",
                        SENT_AGAIN.with(script(
                                RedlockScript.RELEASE,
                                "string.sub(value, 1, #attempt) == attempt",
                                "string.find(value, attempt, 1, true)"))),
                new Defect<>(
                        "a quarantine is shorter than a lease",
                        "S01",
                        FLUSHALL.with(new Variant(
                                RedlockContenderState::on,
                                Variant.PRODUCTION.script(),
                                false,
                                true,
                                RedlockRenewalModel::extended))),
                new Defect<>(
                        "a renewal extends nothing",
                        "S01",
                        RENEWED.with(script(RedlockScript.RENEW, "redis.call('PEXPIRE', KEYS[i], lease)", "1"))),
                new Defect<>(
                        "a renewal does not notice that the vote is gone",
                        "S07",
                        RECOVERED.with(script(RedlockScript.RENEW, "lease) or 0", "lease) or 1"))),
                new Defect<>(
                        "a reply after the deadline extends the lease",
                        "S06",
                        RENEWED.with(
                                renewal((before, sent, now) -> LockClock.deadline(sent, RedlockRenewalModel.LEASE)))),
                new Defect<>(
                        "the vote of another is taken for a lost one",
                        "S05",
                        RECOVERED.with(script(
                                RedlockScript.RECOVER_VOTE,
                                "if value and not (is_of(attempt, value) and round_of(value) < round_of(vote)) then",
                                "if false then"))),
                new Defect<>(
                        "a vote is requested again after the release",
                        "S08",
                        RECOVERED.with(machine(RedlockExplorationTest::recoveredInAnyPhase))),
                new Defect<>(
                        "a master leaves quarantine with its old counters",
                        "S03",
                        FLUSHALL.with(
                                script(RedlockScript.LEAVE_QUARANTINE, "math.max(known, floor, ", "math.max(0, "))),
                // The following are defects that were mended.
                new Defect<>(
                        "a late yield deletes the vote of a later round",
                        "S01",
                        HELD.with(script(
                                RedlockScript.YIELD_VOTE,
                                "and string.match(value, ' round=(%d+) token=%d+$') == round",
                                ""))),
                new Defect<>(
                        "a delayed release forgets a vote that is created after its reply",
                        "S08",
                        SENT_AGAIN.with(machine(RedlockExplorationTest::judgedAtTheDecision))),
                new Defect<>(
                        "an earlier reply rules out a request that was sent again",
                        "S08",
                        SENT_AGAIN.with(event(RedlockExplorationTest::inOrder))),
                new Defect<>(
                        "a vote that is kept without a majority stays",
                        "S08",
                        NOT_KEPT.with(without(DeleteKeptVote.class::isInstance))),
                new Defect<>(
                        "connected clients do not know that a master has lost its data",
                        "S01",
                        WRONG_MAX_LEASE.with(
                                script(RedlockScript.HANDSHAKE, "redis.call('PUBLISH', channel, 'Q')", ""))));
    }

    /** Needs larger scopes. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    @Tag("long")
    void aDefectIsFoundInALargerScope(Defect<RedlockScope> defect) {
        EXPLORER.assertFinds(defect);
    }

    static Stream<Defect<RedlockScope>> aDefectIsFoundInALargerScope() {
        return Stream.of(
                new Defect<>(
                        "a restarted master votes if it has voted before",
                        "S01",
                        RESTART.with(script(
                                script(RedlockScript.ACQUIRE, "if state[1] ~= run then", "if not state[1] then"),
                                RedlockScript.HANDSHAKE,
                                "state[1] == run and",
                                "state[1] and"))),
                new Defect<>(
                        "a vote that may be kept is deleted only before the cleanup has ended",
                        "S08",
                        RedlockScope.of("t", 1)
                                .with(Option.DELAYED_RELEASE)
                                .faults(2, Fault.LATE_EXECUTION, Fault.FORCED_RELEASE)
                                .with(machine(RedlockExplorationTest::deletedAtTheDecision))),
                new Defect<>(
                        "a client takes what its own ended attempt has left for a holder",
                        "S15",
                        ORPHANS.with(new Variant(
                                RedlockContenderState::on,
                                Variant.PRODUCTION.script(),
                                true,
                                false,
                                RedlockRenewalModel::extended))),
                new Defect<>(
                        "a late request for a lost vote is executed",
                        "S08",
                        LATE_RECOVERED.with(script(
                                RedlockScript.RECOVER_VOTE,
                                "return { 'late', now } -- the client no longer waits for this request, and may have released the"
                                        + " grant",
                                ""))),
                new Defect<>(
                        "a lost request for a vote is forgotten",
                        "S05",
                        LATE_RECOVERED.with(event(
                                each -> each instanceof Recovered recovered && recovered.execution() instanceof InDoubt
                                        ? new Recovered(recovered.master(), new NotExecuted())
                                        : each))),
                new Defect<>(
                        "a renewed deadline counts from the reply",
                        "S01",
                        RENEWED_BY_THREE.with(
                                renewal((before, sent, now) -> RedlockRenewalModel.extended(before, now, now)))),
                new Defect<>(
                        "a round without a quorum wakes nobody", "S11", SLOW_WAITERS.with(machine((state, event) -> {
                            Step step = RedlockContenderState.on(state, event);
                            return step.state().phase() instanceof RedlockContenderState.WithoutQuorum
                                            || state.phase() instanceof RedlockContenderState.WithoutQuorum
                                    ? with(step, RedlockExplorationTest::withoutWaking)
                                    : step;
                        }))));
    }

    private static RedlockContenderEffect withoutWaking(RedlockContenderEffect effect) {
        return effect instanceof SendYield yield ? new SendYield(yield.master(), yield.round(), false) : effect;
    }

    private static Variant machine(BiFunction<RedlockContenderState, RedlockContenderEvent, Step> machine) {
        return Variant.PRODUCTION.machine(machine);
    }

    private static Variant renewal(RedlockRenewalModel.Extension renewal) {
        return new Variant(RedlockContenderState::on, Variant.PRODUCTION.script(), true, true, renewal);
    }

    private static Variant event(UnaryOperator<RedlockContenderEvent> change) {
        return machine((state, event) -> RedlockContenderState.on(state, change.apply(event)));
    }

    private static Variant effect(UnaryOperator<RedlockContenderEffect> change) {
        return machine((state, event) -> with(RedlockContenderState.on(state, event), change));
    }

    private static Step with(Step step, UnaryOperator<RedlockContenderEffect> change) {
        return new Step(step.state(), step.effects().stream().map(change).toList());
    }

    private static Variant without(Predicate<RedlockContenderEffect> dropped) {
        return machine((state, event) -> {
            Step step = RedlockContenderState.on(state, event);
            return new Step(
                    step.state(),
                    step.effects().stream().filter(dropped.negate()).toList());
        });
    }

    /** An attempt that does not wait has no time to repeat a round. */
    private static Variant withoutPauses() {
        return event(each -> each instanceof RedlockContenderEvent.Attempt attempt
                ? new RedlockContenderEvent.Attempt(attempt.validUntil(), new MonotonicInstant(-1))
                : each);
    }

    /** No vote comes after the deadline. */
    private static RedlockContenderEvent early(RedlockContenderEvent event) {
        return event instanceof Voted voted
                ? new Voted(voted.master(), voted.round(), voted.vote(), voted.execution(), new MonotonicInstant(0))
                : event;
    }

    /** The epoch of a request that was sent again is that of the connection, of which there is one. */
    private static RedlockContenderEvent inOrder(RedlockContenderEvent event) {
        return event instanceof Voted voted && voted.execution() instanceof InDoubt inDoubt
                ? new Voted(
                        voted.master(), voted.round(), voted.vote(), new InDoubt(1, inDoubt.notAfter()), voted.now())
                : event;
    }

    /** Whether a request may still be executed was judged when the delayed release was decided. */
    private static Step judgedAtTheDecision(RedlockContenderState state, RedlockContenderEvent event) {
        Step step = RedlockContenderState.on(state, event);
        if (!(state.phase() instanceof Delaying delaying)) {
            return step;
        }
        List<AttemptAtMaster> masters = new ArrayList<>(step.state().masters());
        List<RedlockContenderEffect> effects = new ArrayList<>(step.effects());
        if (event instanceof Kept kept && effects.removeIf(StartCleanup.class::isInstance)) {
            masters.set(kept.master(), masters.get(kept.master()).cleaning(false));
        }
        if (step.state().phase() instanceof Ended) {
            for (int m = 0; m < masters.size(); m++) {
                boolean replied = delaying.kept().of(m) == Answer.YES
                        || delaying.kept().of(m) == Answer.NO
                        || (event instanceof Kept kept && kept.master() == m);
                if (replied && masters.get(m).mayStillExecute()) {
                    masters.set(m, masters.get(m).cleaning(true));
                    effects.add(new StartCleanup(m, false));
                }
            }
        }
        return new Step(with(step.state(), masters), effects);
    }

    private static Step recoveredInAnyPhase(RedlockContenderState state, RedlockContenderEvent event) {
        if (!(event instanceof VoteMissing missing)) {
            return RedlockContenderState.on(state, event);
        }
        List<AttemptAtMaster> masters = new ArrayList<>(state.masters());
        masters.set(missing.master(), masters.get(missing.master()).sent());
        return new Step(
                with(state, masters),
                List.of(new SendRecovery(
                        missing.master(), state.round(), state.votes().highestCounter())));
    }

    private static RedlockContenderState with(RedlockContenderState state, List<AttemptAtMaster> masters) {
        return new RedlockContenderState(
                state.mayWait(),
                state.phase(),
                state.round(),
                state.validUntil(),
                state.repeatUntil(),
                state.splitRounds(),
                state.votes(),
                masters,
                state.hinting());
    }

    private static Step deletedAtTheDecision(RedlockContenderState state, RedlockContenderEvent event) {
        Step step = RedlockContenderState.on(state, event);
        return event instanceof CleanupEnded ? new Step(step.state(), List.of()) : step;
    }

    /** A change of this script, and of each other one that has the code too. */
    private static Variant script(RedlockScript script, String code, String wrong) {
        return script(Variant.PRODUCTION, script, code, wrong);
    }

    private static Variant script(Variant before, RedlockScript script, String code, String wrong) {
        assertThat(script.script().text()).contains(code);
        Map<RedlockScript, String> texts = new EnumMap<>(RedlockScript.class);
        for (RedlockScript each : RedlockScript.values()) {
            texts.put(each, before.script().apply(each).replace(code, wrong));
        }
        return Variant.PRODUCTION.script(texts::get);
    }
}
