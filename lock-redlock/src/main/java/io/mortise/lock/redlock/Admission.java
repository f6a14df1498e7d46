// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.util.List;
import java.util.OptionalLong;

/**
 * Decides when a master may vote that may have forgotten its votes: it was restarted, empty or with old data, or its data was
 * deleted. It waits until every lease has ended that it may have voted for, and takes over counters that are above
 * every token given before. Pure.
 *
 * <p>Nothing that a master stores can prove that it has never voted: the data, the script cache and the statistics can all be
 * deleted while its process goes on. So the wait counts from the moment when a client first saw that it may have forgotten, also
 * of a master that is new (ADR 0029).
 *
 * @param quorum of all masters
 * @param maxLeaseMicros no client of the namespace ever asks for a longer lease
 * @param isNew the master is new, and has not voted since: known in tests alone, see {@link NewMasters}
 */
record Admission(Quorum quorum, long maxLeaseMicros, boolean isNew) {
    /**
     * What a master says of itself. Times are those of its own clock, in microseconds.
     *
     * @param admitted whether it still knows that it was admitted, in this life of its process
     * @param hadSentinel whether it was ever admitted, and still knows that
     * @param maxLeaseMicros that the clients of the namespace agreed on, if it still knows that
     * @param sinceMicros when it was first seen to be not admitted; empty if it is
     */
    record Standing(
            boolean admitted,
            boolean hadSentinel,
            OptionalLong maxLeaseMicros,
            OptionalLong sinceMicros,
            long nowMicros) {
        /** The same after so long. */
        Standing later(long micros) {
            return new Standing(admitted, hadSentinel, maxLeaseMicros, sinceMicros, nowMicros + micros);
        }

        /** Whether a client with this maximum may count on it. */
        boolean agrees(long micros) {
            return maxLeaseMicros.orElse(micros) == micros;
        }

        /** Whether it knows nothing at all of the namespace. */
        boolean isEmpty() {
            return !hadSentinel && maxLeaseMicros.isEmpty();
        }
    }

    /** What is known of one of the others. */
    enum Other {
        /** It votes, and its counters can be read. */
        ADMITTED,
        /** It answers, and may have forgotten what it knew. */
        FORGETFUL,
        /** It answers, and knows nothing at all. */
        EMPTY,
        /** It answers, and knows of another longest lease than this client: one of the two is wrong. */
        DISAGREES,
        /** It does not answer. */
        SILENT
    }

    /** What is to be done. */
    sealed interface Verdict {
        /** It votes. */
        record Admitted() implements Verdict {}

        /** Not yet. */
        record Wait(long micros) implements Verdict {}

        /** Not by this client, which may have the wrong idea of the longest lease. */
        record Disagreement() implements Verdict {}

        /**
         * Now, with counters not below those of all others that answer.
         *
         * @param byClock those may not be all there are: not below its clock either
         */
        record Admit(boolean byClock) implements Verdict {}
    }

    Verdict of(Standing standing, List<Other> others) {
        if (!standing.agrees(maxLeaseMicros)) {
            return new Verdict.Disagreement();
        }
        if (standing.admitted()) {
            return new Verdict.Admitted();
        }
        if (others.contains(Other.DISAGREES)) {
            return new Verdict.Disagreement();
        }
        if (isNew) {
            return new Verdict.Admit(true);
        }
        long now = standing.nowMicros();
        long quarantined = standing.sinceMicros().orElse(now) + maxLeaseMicros;
        if (quarantined > now) {
            return new Verdict.Wait(quarantined - now);
        }
        long admitted = count(others, Other.ADMITTED);
        if (admitted >= quorum.knowsAll()) {
            return new Verdict.Admit(false);
        }
        if (admitted + count(others, Other.SILENT) < quorum.knowsAll()) {
            return new Verdict.Admit(true); // nobody who could come back knows more
        }
        long patience = quarantined + maxLeaseMicros;
        return patience > now ? new Verdict.Wait(patience - now) : new Verdict.Admit(true);
    }

    private static long count(List<Other> others, Other what) {
        return others.stream().filter(other -> other == what).count();
    }
}
