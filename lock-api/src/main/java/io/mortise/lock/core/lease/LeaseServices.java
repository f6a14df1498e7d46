// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.Capability;
import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Set;

/**
 * The services that all leases of one client share, such as its clock, its renewals and its callback executor.
 *
 * @param backend the backend that grants the leases
 * @param capabilities those of the backend, which may build a new set for each call
 * @param requestTimeout how long a release waits for the response of the store
 */
public record LeaseServices(
        LockClock clock,
        Duration requestTimeout,
        LockBackend backend,
        Set<Capability> capabilities,
        LeaseKeeper keeper,
        HeldLeases holders,
        ContenderRemovals removals,
        CallbackExecutor callbacks,
        ThrottledLog warnings) {}
