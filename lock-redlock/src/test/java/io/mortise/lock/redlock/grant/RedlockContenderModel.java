// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** One contender of a {@link RedlockWorld}, and the core's view of it. */
final class RedlockContenderModel {
    RedlockContenderState protocol;
    CorePhase core = CorePhase.NEW;
    boolean woken;
    boolean gaveUp;
    boolean delayed; // whether it ends with a delay
    boolean overdue; // whether the deadline of its round or its grant is over
    boolean displaced; // whether an operator has released its grant
    boolean keptForGood; // whether its release has said that a majority keeps its votes
    long token; // of the grant that is believed in; 0 if none
    final Set<Timer> timers = EnumSet.noneOf(Timer.class);
    MonotonicInstant validUntil = RedlockRenewalModel.UNTIMED; // of its round or its grant
    MonotonicInstant grantedUntil = RedlockRenewalModel.UNTIMED; // before the first renewal
    RedlockRenewalModel.Renewal renewal = RedlockRenewalModel.Renewal.NONE; // the last one
    final List<AtMaster> masters;
    List<RedlockContenderEvent> events = List.of(); // that the machine takes in this step
    boolean working; // the machine is taking an event

    /** Something that a timer does later. */
    enum Timer {
        WAKE_SOON,
        HINTS,
        PAUSE
    }

    /** What concerns the contender at one master. */
    static final class AtMaster {
        boolean removalDue;
        Cleanup cleanup = Cleanup.NONE;
        Found found = Found.NOT_ASKED; // by its end, so far
        boolean atRisk; // whether the master has lost the vote of its round, or may not have it any more
        boolean kept; // whether the master keeps its vote for the delay of its release
        boolean orphanSeen; // whether its round has found a vote that an ended attempt of its client has left
        List<RedlockRenewalModel.Sighting> sightings = List.of(); // of its vote by renewals

        AtMaster() {}

        /** Returns whether its vote has been seen again after it was missing. */
        boolean isRecovered() {
            List<Boolean> seen =
                    sightings.stream().map(RedlockRenewalModel.Sighting::seen).toList();
            return seen.contains(false) && seen.lastIndexOf(true) > seen.indexOf(false);
        }

        AtMaster(AtMaster from) {
            removalDue = from.removalDue;
            cleanup = from.cleanup;
            found = from.found;
            atRisk = from.atRisk;
            kept = from.kept;
            orphanSeen = from.orphanSeen;
            sightings = from.sightings;
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

    RedlockContenderModel(boolean waits) {
        protocol = RedlockContenderState.initial(RedlockScope.MASTERS, waits);
        masters = Stream.generate(AtMaster::new).limit(RedlockScope.MASTERS).toList();
    }

    RedlockContenderModel(RedlockContenderModel from) {
        protocol = from.protocol;
        core = from.core;
        woken = from.woken;
        gaveUp = from.gaveUp;
        delayed = from.delayed;
        overdue = from.overdue;
        displaced = from.displaced;
        keptForGood = from.keptForGood;
        token = from.token;
        validUntil = from.validUntil;
        grantedUntil = from.grantedUntil;
        renewal = from.renewal;
        timers.addAll(from.timers);
        masters = from.masters.stream().map(AtMaster::new).toList();
    }

    /** Returns whether it counts on the votes of its round. */
    boolean counts() {
        return protocol.phase() instanceof RedlockContenderState.Voting
                || protocol.phase() instanceof RedlockContenderState.StoringToken
                || protocol.phase() instanceof RedlockContenderState.Holding;
    }

    void startRound(MonotonicInstant deadline) {
        overdue = false;
        validUntil = deadline;
        masters.forEach(each -> {
            each.atRisk = false;
            each.orphanSeen = false;
        });
    }

    void forgetRenewals() {
        if (renewal.answers().count(RedlockContenderEvent.Answer.PENDING) == 0) {
            renewal = RedlockRenewalModel.Renewal.NONE;
            validUntil = RedlockRenewalModel.UNTIMED;
            grantedUntil = RedlockRenewalModel.UNTIMED;
            masters.forEach(each -> each.sightings = List.of());
        }
    }

    void passDeadline() {
        overdue = true;
        token = 0;
    }

    /** Notes what its end has found at a master. */
    void found(int m, Found what) {
        AtMaster master = masters.get(m);
        if (core == CorePhase.ENDING && master.found.compareTo(Found.NOTHING) < 0) {
            master.found = what;
        }
    }

    void wakeIfWaiting() {
        if (protocol.mayWait() && protocol.mayNeedHints()) {
            wake();
        }
    }

    void wake() {
        woken |= core == CorePhase.ATTEMPTING || core == CorePhase.WAITING;
    }
}
