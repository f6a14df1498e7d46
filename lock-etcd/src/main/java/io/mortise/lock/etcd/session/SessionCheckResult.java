// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.KeyValue;
import java.util.List;

/**
 * The result of checking whether a session is still valid. The check is a keepalive, followed by a read of the session's
 * key.
 */
enum SessionCheckResult {
    /** The leader that renewed the lease was still the leader when the key was read. */
    VALID,

    /** The key does not exist, or is not attached to the session's lease. */
    ENDED,

    /** The leader has changed since, and the new one may not know of the keepalive. */
    UNPROVEN;

    static SessionCheckResult of(long leaseId, long renewalTerm, long readTerm, List<KeyValue> found) {
        if (found.isEmpty() || found.get(0).getLease() != leaseId) {
            return ENDED;
        }
        return renewalTerm == readTerm ? VALID : UNPROVEN;
    }
}
