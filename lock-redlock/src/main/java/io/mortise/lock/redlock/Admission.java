// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.util.List;
import java.util.OptionalLong;

/**
 * When a master may vote that may have forgotten what it voted for: it was restarted, empty or with old data, or its data was
 * deleted. It waits until every lease has ended that it may have voted for, and takes over counters that are above
 * every token given before. Decides, does nothing.
 *
 * @param quorum of all masters
 * @param longestLeaseMicros that any client of the namespace may ask for, as far as known
 */
record Admission(Quorum quorum, long longestLeaseMicros) {
    /**
     * What a master says of itself. Times are those of its own clock, in microseconds.
     *
     * @param admitted whether it still knows that it was admitted, in this life of its process
     * @param hadSentinel whether it was admitted in an earlier life, and still knows that
     * @param bootMicros at the latest then its process began
     * @param sinceMicros when it was first seen to be not admitted; empty if it is
     */
    record Standing(boolean admitted, boolean hadSentinel, long bootMicros, OptionalLong sinceMicros, long nowMicros) {
        /** The same after so long. */
        Standing later(long micros) {
            return new Standing(admitted, hadSentinel, bootMicros, sinceMicros, nowMicros + micros);
        }
    }

    /** What is known of one of the others. */
    enum Other {
        /** It votes, and its counters can be read. */
        ADMITTED,
        /** It answers, and may have forgotten what it knew in an earlier life. */
        FORGETFUL,
        /** It answers, and knows of no earlier life. */
        EMPTY,
        /** It does not answer. */
        SILENT
    }

    /** What is to be done. */
    sealed interface Verdict {
        /** It votes. */
        record Admitted() implements Verdict {}

        /** Not yet. */
        record Wait(long micros) implements Verdict {}

        /**
         * Now, with counters not below those of all others that answer.
         *
         * @param byClock those may not be all there are: not below its clock either
         */
        record Admit(boolean byClock) implements Verdict {}
    }

    Verdict of(Standing standing, List<Other> others) {
        if (standing.admitted()) {
            return new Verdict.Admitted();
        }
        long admitted = count(others, Other.ADMITTED);
        // What is empty was deleted a moment ago, and its process voted until then: unless all are, for they are new.
        boolean deleted = !standing.hadSentinel() && count(others, Other.EMPTY) < others.size();
        long since = standing.sinceMicros().orElse(standing.nowMicros());
        long quarantined = (deleted ? since : standing.bootMicros()) + longestLeaseMicros;
        if (quarantined > standing.nowMicros()) {
            return new Verdict.Wait(quarantined - standing.nowMicros());
        }
        if (admitted >= quorum.knowsAll()) {
            return new Verdict.Admit(false);
        }
        if (admitted + count(others, Other.SILENT) < quorum.knowsAll()) {
            return new Verdict.Admit(true); // nobody who could come back knows more
        }
        long patience = Math.max(quarantined, since) + longestLeaseMicros;
        return patience > standing.nowMicros()
                ? new Verdict.Wait(patience - standing.nowMicros())
                : new Verdict.Admit(true);
    }

    private static long count(List<Other> others, Other what) {
        return others.stream().filter(other -> other == what).count();
    }
}
