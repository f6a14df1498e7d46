// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.KeyValue;
import java.util.List;

/** Result of a session liveness check: a keepalive, and the read after it. */
enum SessionCheckResult {
    /** The leader that renewed the lease was the leader still when the key was read. */
    VALID,

    /** The key is not there, or no longer hangs on our lease. */
    GONE,

    /** There is another leader, who may know nothing of the keepalive. */
    UNPROVED;

    static SessionCheckResult of(long leaseId, long termOfRenewal, long termOfRead, List<KeyValue> found) {
        if (found.isEmpty() || found.get(0).getLease() != leaseId) {
            return GONE;
        }
        return termOfRenewal == termOfRead ? VALID : UNPROVED;
    }
}
