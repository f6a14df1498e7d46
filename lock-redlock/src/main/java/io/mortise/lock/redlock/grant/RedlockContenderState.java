// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.grant.RedlockContenderEffect.CompleteCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.DeleteKeptVote;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailAttempt;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailEnd;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailWithoutQuorum;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Failure;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Pause;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Plain;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportBusy;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportGranted;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendDelayedRelease;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendToken;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.StartCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.AtMaster;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Attempt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CameTooLate;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CleanupDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CleanupEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.End;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.EndAfter;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Hint;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.HintsDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.KeepFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Kept;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.PauseOver;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Removed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.TokenStored;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.VoteMissing;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Voted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.YieldFailed;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.SerialMachine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of one contender on Redlock: its phase, the votes of its last round, what it may have at each master, and what
 * each event leads to. Pure; the events bring all times and epochs. See docs/protocols/redlock.md.
 *
 * @param mayWait whether the attempt waits in the masters' queues
 * @param round the last round; 0 before the first one
 * @param validUntil deadline of a grant that this round wins
 * @param repeatUntil time until which a round with split votes is repeated, if the attempt does not wait
 * @param splitRounds number of consecutive rounds in which no contender had a majority
 * @param votes the votes of this round; some may still arrive when it is decided
 * @param hinting bit set of the masters that have sent a hint since the last attempt
 */
record RedlockContenderState(
        boolean mayWait,
        Phase phase,
        int round,
        MonotonicInstant validUntil,
        MonotonicInstant repeatUntil,
        int splitRounds,
        VoteTally votes,
        List<AttemptAtMaster> masters,
        long hinting) {
    /** Allows one retry of a late request, whose reply shows how far the master's clock was set forward since its last response. */
    static final int MOST_TRIES = 2;

    /** Number of consecutive split rounds after which an attempt that does not wait gives up. */
    static final int MOST_SPLIT_ROUNDS = 6;

    private static final MonotonicInstant NO_TIME = new MonotonicInstant(0);

    /** The next state, and what to do now. */
    record Step(RedlockContenderState state, List<RedlockContenderEffect> effects)
            implements SerialMachine.Step<RedlockContenderState, RedlockContenderEffect> {}

    /** A phase of a contender: what it does or waits for. The data of a phase exists only in that phase. */
    sealed interface Phase {}

    /** No call of the core is pending, and there is no grant. */
    record Idle() implements Phase {}

    /** The votes of the round are being requested. */
    record Voting() implements Phase {}

    /** Too many masters have failed. The other replies are awaited, so that the error names each master that failed. */
    record WithoutQuorum() implements Phase {}

    /** A majority has voted, with different counters: it must store the highest one. */
    record StoringToken(long token, Answers stored) implements Phase {}

    /** Several contenders share the votes; an attempt that does not wait pauses before its next round. */
    record Pausing() implements Phase {}

    /** The core has the grant. */
    record Holding(long token) implements Phase {}

    /** A release or a withdrawal is on its way. */
    record Releasing(MonotonicInstant retryUntil, Answers held, List<Failure> failures) implements Phase {}

    /** A delayed release is on its way. */
    record Delaying(Duration delay, Answers kept, List<Failure> failures) implements Phase {}

    /** A release has failed, and the core repeats it. */
    record EndFailed() implements Phase {}

    /**
     * The core has no part in this contender any more.
     *
     * @param notKept the delay of a delayed release that has failed, so that no master may keep its vote; else null
     */
    record Ended(@Nullable Duration notKept) implements Phase {}

    static RedlockContenderState initial(int masters, boolean mayWait) {
        return new RedlockContenderState(
                mayWait,
                new Idle(),
                0,
                NO_TIME,
                NO_TIME,
                0,
                new VoteTally(new Quorum(masters)),
                Collections.nCopies(masters, AttemptAtMaster.NOTHING),
                0);
    }

    /**
     * Returns what an event leads to.
     *
     * @throws IllegalStateException if the event is impossible in this state
     */
    static Step on(RedlockContenderState state, RedlockContenderEvent event) {
        Transition transition = new Transition(state);
        transition.on(event);
        return transition.step();
    }

    private static IllegalStateException impossible(RedlockContenderEvent event, Phase phase) {
        return new IllegalStateException(event + " is impossible in " + phase);
    }

    /** Returns whether a hint may still lead to a grant. */
    boolean mayNeedHints() {
        return mayNeedHints(phase);
    }

    private static boolean mayNeedHints(Phase phase) {
        return phase instanceof Idle
                || phase instanceof Voting
                || phase instanceof WithoutQuorum
                || phase instanceof StoringToken;
    }

    /** The state while one event is taken. */
    private static final class Transition {
        private final boolean mayWait;
        private Phase phase;
        private int round;
        private MonotonicInstant validUntil;
        private MonotonicInstant repeatUntil;
        private int splitRounds;
        private VoteTally votes;
        private List<AttemptAtMaster> masters;
        private boolean mastersChanged;
        private long hinting;
        private final List<RedlockContenderEffect> effects = new ArrayList<>();

        Transition(RedlockContenderState from) {
            mayWait = from.mayWait;
            phase = from.phase;
            round = from.round;
            validUntil = from.validUntil;
            repeatUntil = from.repeatUntil;
            splitRounds = from.splitRounds;
            votes = from.votes;
            masters = from.masters;
            hinting = from.hinting;
        }

        Step step() {
            return new Step(
                    new RedlockContenderState(
                            mayWait,
                            phase,
                            round,
                            validUntil,
                            repeatUntil,
                            splitRounds,
                            votes,
                            mastersChanged ? Collections.unmodifiableList(masters) : masters,
                            hinting),
                    effects);
        }

        void on(RedlockContenderEvent event) {
            if (event instanceof Attempt attempt && phase instanceof Idle) {
                hinting = 0;
                repeatUntil = attempt.repeatUntil();
                startRound(attempt.validUntil());
            } else if (event instanceof PauseOver over && phase instanceof Pausing) {
                if (over.wanted() && votes.isSplitWithOwnVote()) {
                    startRound(over.validUntil());
                } else { // nobody waits any more, or later votes have shown a holder
                    phase = new Idle();
                    effects.add(new ReportBusy(votes, splitRounds));
                }
            } else if (event instanceof End end && mayEnd()) {
                release(end);
            } else if (event instanceof EndAfter end && mayEnd()) {
                keep(end.delay());
            } else if (event instanceof HintsDue) {
                boolean minority =
                        hinting != 0 && Long.bitCount(hinting) < votes.quorum().majority();
                wakeIf(minority && mayNeedHints(phase));
            } else if (event instanceof AtMaster atMaster) {
                onMaster(atMaster.master(), atMaster);
            } else {
                throw impossible(event, phase);
            }
        }

        private void set(int master, AttemptAtMaster attempt) {
            if (!mastersChanged) {
                masters = new ArrayList<>(masters);
                mastersChanged = true;
            }
            masters.set(master, attempt);
        }

        private boolean mayEnd() {
            return phase instanceof Idle || phase instanceof Holding || phase instanceof EndFailed;
        }

        private void onMaster(int master, AtMaster event) {
            if (event instanceof Voted voted) {
                answered(master, voted.execution(), mayWait);
                vote(voted);
            } else if (event instanceof CameTooLate late) {
                answered(master, late.execution(), mayWait);
                if (late.tries() > 1 && late.round() == round && phase instanceof Voting) {
                    acquire(master, late.tries() - 1);
                } else {
                    vote(new Voted(master, late.round(), late.vote(), late.execution(), late.now()));
                }
            } else if (event instanceof TokenStored stored) {
                if (phase instanceof StoringToken storing && stored.round() == round) {
                    store(new StoringToken(storing.token, storing.stored.with(master, stored.answer())), stored.now());
                }
            } else if (event instanceof YieldFailed) {
                if (phase instanceof Idle && mayWait) {
                    effects.add(Plain.WAKE_SOON);
                }
            } else if (event instanceof VoteMissing) {
                if (phase instanceof Holding holding) {
                    set(master, masters.get(master).sent());
                    effects.add(new SendRecovery(master, round, holding.token));
                }
            } else if (event instanceof Recovered recovered) {
                answered(master, recovered.execution(), false);
            } else if (event instanceof Hint) {
                hint(master);
            } else {
                onRemoval(master, event);
            }
        }

        private void answered(int master, RedlockContenderEvent.Execution execution, boolean queues) {
            set(master, masters.get(master).answered(execution, queues));
        }

        // ---- rounds

        private void startRound(MonotonicInstant deadline) {
            round++;
            validUntil = deadline;
            votes = new VoteTally(votes.quorum());
            phase = new Voting();
            for (int master = 0; master < masters.size(); master++) {
                acquire(master, MOST_TRIES);
            }
        }

        private void acquire(int master, int tries) {
            AttemptAtMaster attempt = masters.get(master);
            boolean mayBeQueued = attempt.queued() || (mayWait && attempt.mayStillExecute());
            set(master, attempt.sent());
            effects.add(new SendAcquire(master, round, mayBeQueued, tries));
        }

        private void vote(Voted voted) {
            if (voted.round() == round) {
                votes = votes.with(voted.master(), voted.vote());
                if (phase instanceof Voting) {
                    decide(voted.now());
                    return;
                }
                if (phase instanceof WithoutQuorum) {
                    failOnceComplete();
                }
            }
            boolean lost = voted.round() < round
                    || phase instanceof Idle
                    || phase instanceof WithoutQuorum
                    || phase instanceof Pausing;
            if (lost && goesOn()) {
                yieldVote(voted.master(), voted.round(), voted.vote());
            }
        }

        /** Returns whether the core has not ended the attempt, and will not end it at once. */
        private boolean goesOn() {
            boolean ended = phase instanceof Releasing
                    || phase instanceof Delaying
                    || phase instanceof EndFailed
                    || phase instanceof Ended;
            return !ended && (mayWait || !(phase instanceof Idle || phase instanceof WithoutQuorum));
        }

        private void decide(MonotonicInstant now) {
            switch (votes.result()) {
                case OPEN -> {}
                case WON -> won(now);
                case BUSY -> busy(now);
                case NO_QUORUM -> {
                    phase = new WithoutQuorum();
                    yieldVotes();
                    failOnceComplete();
                }
            }
        }

        private void won(MonotonicInstant now) {
            long token = votes.highestCounter();
            if (votes.isTokenUnanimous()) {
                grant(token, now);
                return;
            }
            Answers stored = Answers.pending(masters.size());
            for (int master = 0; master < masters.size(); master++) {
                if (votes.of(master) instanceof MasterVote.Granted) {
                    effects.add(new SendToken(master, round, token));
                } else {
                    stored = stored.with(master, Answer.NONE);
                }
            }
            phase = new StoringToken(token, stored);
        }

        private void store(StoringToken storing, MonotonicInstant now) {
            phase = storing;
            switch (storing.stored.result()) {
                case OPEN -> {}
                case ACCEPTED -> grant(storing.token, now);
                case REJECTED, UNDECIDED ->
                    failAfterMajority("the majority was lost before all its masters stored the token");
            }
        }

        private void grant(long token, MonotonicInstant now) {
            if (now.isBefore(validUntil)) {
                phase = new Holding(token);
                effects.add(new ReportGranted(token, round, validUntil));
            } else {
                failAfterMajority("winning a majority took longer than the lease");
            }
        }

        private void failAfterMajority(String why) {
            phase = new Idle();
            yieldVotes();
            effects.add(new FailAttempt(why));
        }

        private void busy(MonotonicInstant now) {
            boolean held = votes.holder().isPresent();
            splitRounds = held ? 0 : splitRounds + 1;
            boolean repeats = !mayWait
                    && votes.isSplitWithOwnVote() // those without a vote leave the votes to the others
                    && splitRounds < MOST_SPLIT_ROUNDS
                    && now.isBefore(repeatUntil);
            phase = repeats ? new Pausing() : new Idle();
            yieldVotes();
            effects.add(repeats ? new Pause(votes, splitRounds) : new ReportBusy(votes, splitRounds));
        }

        private void failOnceComplete() {
            if (votes.isComplete()) {
                phase = new Idle();
                effects.add(new FailWithoutQuorum(votes));
            }
        }

        /** Deletes the votes of the lost round. The vote of a master that has not replied is deleted when it replies. */
        private void yieldVotes() {
            for (int master = 0; master < masters.size() && goesOn(); master++) {
                yieldVote(master, round, votes.of(master));
            }
        }

        /** Wakes other contenders that may have seen this attempt as the holder, and would wait for its release. */
        private void yieldVote(int master, int ofRound, MasterVote vote) {
            if (vote.mayBeGranted()) {
                effects.add(new SendYield(master, ofRound, ofRound == round && votes.mayHaveMajority()));
            }
        }

        // ---- hints

        private void hint(int master) {
            if (!mayNeedHints(phase) || (hinting & 1L << master) != 0) {
                return;
            }
            hinting |= 1L << master;
            int count = Long.bitCount(hinting);
            wakeIf(count == votes.quorum().majority());
            if (count == 1) {
                effects.add(Plain.AWAIT_HINTS);
            }
        }

        private void wakeIf(boolean condition) {
            if (condition) {
                effects.add(Plain.WAKE);
            }
        }

        // ---- the end

        private void release(End end) {
            Answers held = Answers.pending(masters.size());
            for (int master = 0; master < masters.size(); master++) {
                if (masters.get(master).mayHaveOrphans()) {
                    effects.add(removal(master, false, false));
                } else {
                    held = held.with(master, Answer.NO);
                }
            }
            released(new Releasing(end.retryUntil(), held, List.of()));
        }

        private SendRemoval removal(int master, boolean forCleanup, boolean repeated) {
            return new SendRemoval(
                    master, forCleanup, repeated, masters.get(master).lost().anyLost());
        }

        private void released(Releasing releasing) {
            phase = releasing;
            switch (releasing.held.result()) {
                case OPEN -> {}
                case ACCEPTED -> ended(true, null);
                case REJECTED -> ended(false, null);
                case UNDECIDED -> {
                    int yes = releasing.held.count(Answer.YES);
                    int replies = yes + releasing.held.count(Answer.NO);
                    if (replies >= votes.quorum().majority()) {
                        ended(yes > 0, null);
                    } else {
                        failEnd(false, replies, releasing.failures);
                    }
                }
            }
        }

        private void ended(boolean existed, @Nullable Duration notKept) {
            phase = new Ended(notKept);
            effects.add(new ReportEnded(existed));
        }

        private void failEnd(boolean delayed, int replies, List<Failure> failures) {
            phase = new EndFailed();
            effects.add(new FailEnd(delayed, replies, failures));
        }

        private void onRemoval(int master, AtMaster event) {
            if (event instanceof Removed removed) {
                boolean clean = resolveAndCheckClean(master, removed.epoch(), removed.time());
                if (removed.forCleanup()) {
                    effects.add(clean ? new CompleteCleanup(master) : new RepeatCleanup(master));
                } else {
                    cleanUpUnless(clean, master);
                    answer(removed);
                }
            } else if (event instanceof RemovalFailed failed) {
                if (failed.forCleanup()) {
                    effects.add(new FailCleanup(master, failed.cause()));
                } else if (phase instanceof Releasing releasing && failed.now().isBefore(releasing.retryUntil)) {
                    effects.add(new RepeatRemoval(master));
                } else {
                    cleanUpUnless(false, master);
                    noAnswer(master, String.valueOf(failed.cause().getMessage()));
                }
            } else if (event instanceof RemovalDue) {
                effects.add(removal(master, false, true));
            } else if (event instanceof Kept kept) {
                cleanUpUnless(resolveAndCheckClean(master, kept.epoch(), kept.time()), master);
                kept(master, kept.kept() ? Answer.YES : Answer.NO, List.of());
            } else if (event instanceof KeepFailed failed) {
                kept(master, Answer.NONE, List.of(new Failure(master, failed.why())));
            } else if (event instanceof CleanupDue) {
                effects.add(removal(master, true, true));
            } else if (event instanceof CleanupEnded) {
                set(master, masters.get(master).cleaning(false));
                deleteUnlessKept(master);
            } else {
                throw impossible(event, phase);
            }
        }

        /** Rules out lost requests by the reply to a removal. Returns whether no request can create a vote at the master any more. */
        private boolean resolveAndCheckClean(int master, long epoch, long time) {
            if (masters.get(master).lost().anyLost()) {
                set(master, masters.get(master).resolvedBy(epoch, time));
            }
            return !masters.get(master).mayStillExecute();
        }

        private void cleanUpUnless(boolean clean, int master) {
            AttemptAtMaster attempt = masters.get(master);
            if (!clean && !attempt.cleaning()) {
                set(master, attempt.cleaning(true));
                effects.add(new StartCleanup(master, attempt.queued() || (mayWait && attempt.awaited() > 0)));
            }
        }

        private void answer(Removed removed) {
            if (removed.held() || !removed.repeated()) {
                answer(removed.master(), removed.held() ? Answer.YES : Answer.NO, List.of());
            } else {
                noAnswer(
                        removed.master(), "a retry of the release found no grant"); // the first try may have deleted it
            }
        }

        private void noAnswer(int master, String why) {
            answer(master, Answer.NONE, List.of(new Failure(master, why)));
        }

        private void answer(int master, Answer answer, List<Failure> failure) {
            if (phase instanceof Releasing releasing) {
                released(new Releasing(
                        releasing.retryUntil,
                        releasing.held.with(master, answer),
                        joined(releasing.failures, failure)));
            }
        }

        private static List<Failure> joined(List<Failure> before, List<Failure> more) {
            List<Failure> all = new ArrayList<>(before);
            all.addAll(more);
            return List.copyOf(all);
        }

        // ---- the delayed release

        private void keep(Duration delay) {
            Answers kept = Answers.pending(masters.size());
            for (int master = 0; master < masters.size(); master++) {
                if (masters.get(master).mayHaveOrphans()) {
                    set(master, masters.get(master).askedToKeep());
                    effects.add(new SendDelayedRelease(master, delay));
                } else {
                    kept = kept.with(master, Answer.NO);
                }
            }
            delayed(new Delaying(delay, kept, List.of()));
        }

        private void kept(int master, Answer answer, List<Failure> failure) {
            if (phase instanceof Delaying delaying) {
                delayed(new Delaying(
                        delaying.delay, delaying.kept.with(master, answer), joined(delaying.failures, failure)));
            } else if (phase instanceof Ended) {
                cleanUpAfterDelay(master, answer);
            }
        }

        private void delayed(Delaying delaying) {
            phase = delaying;
            switch (delaying.kept.result()) {
                case OPEN -> {}
                case ACCEPTED -> ended(true, null);
                case REJECTED -> ended(false, delaying.delay);
                case UNDECIDED ->
                    failEnd(true, delaying.kept.count(Answer.YES) + delaying.kept.count(Answer.NO), delaying.failures);
            }
            for (int master = 0; master < masters.size() && phase instanceof Ended; master++) {
                cleanUpAfterDelay(master, delaying.kept.of(master));
            }
        }

        /** Deletes what the attempt has left at a master, but no vote that a majority keeps. */
        private void cleanUpAfterDelay(int master, Answer answer) {
            cleanUpUnless(answer != Answer.NONE, master);
            if (answer != Answer.PENDING) {
                deleteUnlessKept(master);
            }
        }

        /**
         * Deletes a vote that no majority keeps, whatever the master has answered: an earlier try of the delayed release may have had
         * no reply. Repeated when a cleanup has ended, since until then that may find a vote to keep. A master that was never asked
         * to keep a vote keeps none.
         */
        private void deleteUnlessKept(int master) {
            if (phase instanceof Ended ended
                    && ended.notKept != null
                    && masters.get(master).mayKeep()) {
                effects.add(new DeleteKeptVote(master, ended.notKept));
            }
        }
    }
}
