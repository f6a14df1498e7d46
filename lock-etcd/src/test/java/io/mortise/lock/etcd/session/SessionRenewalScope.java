// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import java.util.Set;

/**
 * The scope of an exploration of renewals.
 *
 * @param renewals how often the client may renew, also before the renewal before has ended
 * @param halfLeases how often time passes
 */
record SessionRenewalScope(int renewals, int halfLeases, int faults, Set<Fault> possible, Set<Flaw> flaws) {
    /** A fault, which happens once for each that is left. */
    enum Fault {
        /** A request gets no reply. It was executed, or is executed at any time, or never. */
        NO_REPLY,
        /** Another leader is elected, of which the one before hears at any time later. */
        LEADER_CHANGE,
        /** An operator revokes the lease, or deletes the key of the session. */
        OPERATOR
    }

    /** A defect of the client, in what passes between it and the cluster, or of the cluster. */
    enum Flaw {
        TERMS_ARE_NOT_COMPARED,
        ANY_LEADER_SERVES_READS,
        DEADLINE_COUNTS_FROM_REPLY,
        DEADLINE_HAS_NO_MARGIN,
        REQUESTED_DURATION_COUNTS,
        LATE_RENEWAL_REVIVES,
        LEASE_NOT_FOUND_ENDS_SESSION,
        REPLACED_LEADER_ENDS_LEASE
    }

    SessionRenewalScope with(Flaw... other) {
        return new SessionRenewalScope(renewals, halfLeases, faults, possible, Set.of(other));
    }

    boolean has(Flaw flaw) {
        return flaws.contains(flaw);
    }
}
