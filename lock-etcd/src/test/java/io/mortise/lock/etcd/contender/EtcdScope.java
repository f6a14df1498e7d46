// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * The scope of an exploration.
 *
 * @param clientOfContender the client of each contender
 * @param kinds what each contender does: w waits, d waits and releases with a delay, o waits and gives up if it is
 *     displaced, t does not wait, u does not wait and is followed by another such one
 * @param faults the number of faults
 * @param possible the kinds of faults
 * @param givingUp whether callers may give up
 * @param variant the protocol
 */
record EtcdScope(
        List<Integer> clientOfContender,
        String kinds,
        int faults,
        Set<Fault> possible,
        boolean givingUp,
        Variant variant) {
    /**
     * The protocol that is explored: that of production, or one with a defect.
     *
     * @param machine the state machine of a contender
     * @param flaws what is wrong beside the machine
     */
    record Variant(
            BiFunction<EtcdContenderState, EtcdContenderEvent, EtcdContenderState.Step> machine, Set<Flaw> flaws) {
        static final Variant PRODUCTION = new Variant(EtcdContenderState::on, Set.of());
    }

    /** A defect beside the machine: in a copy of what {@code EtcdContenderRequests} or the session do, or in the checks. */
    enum Flaw {
        SESSION_ENDS_EARLY,
        HEAD_IS_NOT_CHECKED,
        READ_BEFORE_WATCH,
        WATCH_STAYS_CLOSED,
        WATCH_ENDS_UNNOTICED,
        PUT_IN_ANY_EPOCH,
        GIVE_WAY_WITH_ANY_KEY,
        MOVE_PUTS_SESSION_KEY,
        WITHDRAWAL_OF_ANY_KEY,
        FENCING_BY_CREATION
    }

    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A request gets no reply. It was executed, or is executed at any time, or never. */
        NO_REPLY,
        /** The same to a contender that gives way, where other requests have their replies. */
        NO_REPLY_TO_GIVING_WAY,
        /** A connection is lost, with all replies and the watch. */
        CUT,
        /** The store restarts with its data and leases, or its leader changes: the connections of all clients are lost at once. */
        RESTART,
        /** The store is full. It has executed the put before it noticed that, or not. */
        FULL,
        /** A watch ends, with the events that are on their way. */
        WATCH_LOST,
        /** The session has not been proved alive until its deadline. */
        DEADLINE,
        /** An operator revokes the lease of a session, or deletes its key. */
        REVOKED,
        /** An operator deletes a contender's key. */
        OPERATOR
    }

    static EtcdScope of(String clients, String kinds, int faults, Set<Fault> possible, boolean givingUp) {
        List<Integer> digits =
                Arrays.stream(clients.split("")).map(Integer::parseInt).toList();
        return new EtcdScope(digits, kinds, faults, possible, givingUp, Variant.PRODUCTION);
    }

    EtcdScope with(Variant other) {
        return new EtcdScope(clientOfContender, kinds, faults, possible, givingUp, other);
    }

    boolean has(Flaw flaw) {
        return variant.flaws.contains(flaw);
    }
}
