// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/**
 * Collaborators of the leases of one client.
 *
 * @param fencing whether the backend gives fencing tokens
 * @param requestTimeout how long a release waits for its answer
 */
public record LeaseCollaborators(
        LockClock clock,
        Duration requestTimeout,
        boolean fencing,
        LeaseKeeper keeper,
        HeldLeases holders,
        ContenderRemovals removals,
        CallbackExecutor callbacks,
        ThrottledLog warnings) {}
