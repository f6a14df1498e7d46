// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;

/** Computes when a contender that won no majority asks again, unless a master wakes it earlier. Pure. */
public final class RedlockRetryPolicy {
    /** How often a waiter asks at least, in case notifications were lost. */
    public static final Duration MAX_DELAY = Duration.ofSeconds(5);

    /** First delay of a contender that has some of the split votes: chance lets one of them come first. */
    private static final Duration SPLIT_WITH_VOTES = Duration.ofMillis(10);

    /** First delay of a contender that has none of the split votes: it leaves the lock to those that have some. */
    private static final Duration SPLIT_WITHOUT_VOTES = Duration.ofMillis(150);

    /** Limit of the delay after repeated split votes: one of the contenders may have died. */
    private static final Duration MAX_SPLIT_DELAY = Duration.ofSeconds(1);

    private static final int MAX_DOUBLINGS = 7;

    /** Extra delay for each queue entry before this one, so that not all contenders ask at once after a holder died. */
    private static final Duration DELAY_PER_QUEUE_ENTRY = Duration.ofMillis(100);

    private static final int MAX_DELAYING_ENTRIES = 15;

    private RedlockRetryPolicy() {}

    /**
     * Returns the longest time to wait before the next round.
     *
     * @param held whether one contender has a majority
     * @param random from 0 to 1
     * @param splitRounds number of rounds in a row in which no contender had a majority
     */
    public static Duration delay(List<MasterVote> votes, boolean held, Quorum quorum, double random, int splitRounds) {
        boolean hasVotes = votes.stream().anyMatch(vote -> vote instanceof MasterVote.Granted);
        if (!held) {
            Duration grown = (hasVotes ? SPLIT_WITH_VOTES : SPLIT_WITHOUT_VOTES)
                    .multipliedBy(1L << Math.min(Math.max(0, splitRounds - 1), MAX_DOUBLINGS));
            Duration limited = Durations.shorter(grown, MAX_SPLIT_DELAY);
            return limited.dividedBy(10).plusNanos((long) (limited.toNanos() * random));
        }
        List<MasterVote.Conflicted> conflicts = votes.stream()
                .filter(vote -> vote instanceof MasterVote.Conflicted)
                .map(vote -> (MasterVote.Conflicted) vote)
                .toList();
        long remaining = conflicts.stream()
                .mapToLong(conflict ->
                        conflict.remainingMillis() < 0 ? MAX_DELAY.toMillis() : conflict.remainingMillis() + 1)
                .sorted()
                .limit(quorum.majority())
                .max()
                .orElse(0);
        if (remaining >= MAX_DELAY.toMillis()) {
            return MAX_DELAY;
        }
        long queuedBefore = conflicts.stream()
                .mapToLong(MasterVote.Conflicted::queuedBefore)
                .sorted()
                .limit(quorum.majority())
                .max()
                .orElse(0);
        return Duration.ofMillis(remaining)
                .plus(DELAY_PER_QUEUE_ENTRY.multipliedBy(Math.min(queuedBefore, MAX_DELAYING_ENTRIES)));
    }
}
