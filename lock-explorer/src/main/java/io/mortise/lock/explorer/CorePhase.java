// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import io.mortise.lock.explorer.World.Kind;

/** A phase of the core's part in one contender, in a model of the core. */
public enum CorePhase {
    NEW,
    ATTEMPTING,
    WAITING,
    RETRYING,
    HOLDING,
    ENDING,
    END_FAILED,
    DONE;

    /** The calls of the core, which change a draft of a world. */
    public interface Calls {
        /** Makes an attempt. */
        void attempt(int contender);

        /** Releases a lock that is held. */
        void release(int contender);

        /** Ends a contender again whose end has failed. */
        void end(int contender);

        /** Gives up; during an attempt, the end follows its outcome. */
        void giveUp(int contender);
    }

    /** Returns whether the contender has or awaits an attempt, and no grant. */
    public boolean isAcquiring() {
        return this == ATTEMPTING || this == WAITING || this == RETRYING;
    }

    /**
     * Adds the next steps of the core.
     *
     * @param contender the number of the contender
     * @param woken whether the contender was woken since its last attempt began
     * @param mayGiveUp whether the caller may give up while it acquires
     */
    public <D extends Calls> void addSteps(int contender, boolean woken, boolean mayGiveUp, Steps<?, D, ?> steps) {
        String who = "contender " + contender + " ";
        switch (this) {
            case NEW -> steps.progress(() -> who + "makes its first attempt", next -> next.attempt(contender));
            case WAITING ->
                steps.add(
                        () -> who + (woken ? "tries again, since it was woken" : "tries again after the fallback time"),
                        woken ? Kind.PROGRESS : Kind.FALLBACK,
                        next -> next.attempt(contender));
            case RETRYING -> steps.progress(() -> who + "tries again after a failure", next -> next.attempt(contender));
            case HOLDING -> steps.progress(() -> who + "releases", next -> next.release(contender));
            case END_FAILED -> steps.progress(() -> who + "ends again after a failure", next -> next.end(contender));
            default -> {}
        }
        if (mayGiveUp && isAcquiring()) {
            steps.add(() -> who + "gives up", Kind.OPTIONAL, next -> next.giveUp(contender));
        }
    }
}
