// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.core.lease.LeaseCollaborators;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.util.random.RandomGenerator;

/** Collaborators of the acquires of one client. */
public record AcquireCollaborators(
        LockBackend backend,
        ClientOptions options,
        RandomGenerator random,
        LastResponse lastResponse,
        LocalQueues queues,
        OpenAcquires open,
        LeaseCollaborators leases) {
    LockClock clock() {
        return leases.clock();
    }
}
