// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;

/** Computes how long a contender that got no majority waits for a wake-up before it retries. Pure. */
public final class RedlockRetryPolicy {
    /** Longest delay between two requests of a waiter, in case hints are lost. */
    public static final Duration MAX_DELAY = Duration.ofSeconds(5);

    /** First delay of a contender with some of the split votes; random delays let one such contender retry first. */
    private static final Duration SPLIT_WITH_VOTES = Duration.ofMillis(10);

    /** First delay of a contender with none of the split votes, which lets contenders with votes retry first. */
    private static final Duration SPLIT_WITHOUT_VOTES = Duration.ofMillis(150);

    /** Longest delay after repeated split votes, since one of the contenders may have crashed. */
    private static final Duration MAX_SPLIT_DELAY = Duration.ofSeconds(1);

    private static final int MAX_DOUBLINGS = 7;

    /** Extra delay for each earlier queue entry, so that not all contenders retry at once after the crash of a holder. */
    private static final Duration DELAY_PER_QUEUE_ENTRY = Duration.ofMillis(100);

    private static final int MAX_DELAYING_ENTRIES = 15;

    private RedlockRetryPolicy() {}

    /**
     * Returns the longest time to wait before the next round.
     *
     * @param held whether one contender has a majority
     * @param random random number from 0 to 1
     * @param splitRounds number of consecutive rounds in which no contender had a majority
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
