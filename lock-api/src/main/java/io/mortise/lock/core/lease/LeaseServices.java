// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/**
 * The services that all leases of one client share, such as its clock, its renewals and its callback executor.
 *
 * @param backend the backend that grants the leases
 * @param requestTimeout how long a release waits for the response of the store
 */
public record LeaseServices(
        LockClock clock,
        Duration requestTimeout,
        LockBackend backend,
        LeaseKeeper keeper,
        HeldLeases holders,
        ContenderRemovals removals,
        CallbackExecutor callbacks,
        ThrottledLog warnings) {}
