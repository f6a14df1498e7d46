// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.time.Duration;
import java.util.List;

/** When one that found no majority asks again at the latest, if no master wakes it before. Pure arithmetic. */
final class Pause {
    /** How often a waiter asks at least, in case hints were lost. */
    static final Duration LONGEST = Duration.ofSeconds(5);

    /** Several share the votes: one of them is to come first by chance. */
    private static final Duration SHARED = Duration.ofMillis(10);

    /** Several share the votes and this one has none: it leaves the lock to them. */
    private static final Duration ASIDE = Duration.ofMillis(150);

    /** What sharing comes to at most, if it happens again and again: one of them may not be who it seems. */
    private static final Duration SHARED_AT_MOST = Duration.ofSeconds(1);

    private static final int MOST_DOUBLINGS = 7;

    /** Those in line do not all ask at once when a holder died: each gives those before it so much time. */
    private static final Duration APART = Duration.ofMillis(100);

    private static final int MOST_APART = 15;

    private Pause() {}

    /**
     * So long at most.
     *
     * @param held somebody has a majority
     * @param chance from 0 to 1
     * @param splits how often in a row nobody had one
     */
    static Duration before(List<Vote> votes, boolean held, Quorum quorum, double chance, int splits) {
        boolean shares = votes.stream().anyMatch(vote -> vote instanceof Vote.Granted);
        if (!held) {
            Duration grown =
                    (shares ? SHARED : ASIDE).multipliedBy(1L << Math.min(Math.max(0, splits - 1), MOST_DOUBLINGS));
            Duration most = grown.compareTo(SHARED_AT_MOST) < 0 ? grown : SHARED_AT_MOST;
            return most.dividedBy(10).plusNanos((long) (most.toNanos() * chance));
        }
        List<Vote.Conflicted> conflicts = votes.stream()
                .filter(vote -> vote instanceof Vote.Conflicted)
                .map(vote -> (Vote.Conflicted) vote)
                .toList();
        long left = conflicts.stream()
                .mapToLong(conflict -> conflict.leftMillis() < 0 ? LONGEST.toMillis() : conflict.leftMillis() + 1)
                .sorted()
                .limit(quorum.majority())
                .max()
                .orElse(0);
        if (left >= LONGEST.toMillis()) {
            return LONGEST;
        }
        long before = conflicts.stream()
                .mapToLong(Vote.Conflicted::before)
                .sorted()
                .limit(quorum.majority())
                .max()
                .orElse(0);
        return Duration.ofMillis(left).plus(APART.multipliedBy(Math.min(before, MOST_APART)));
    }
}
