// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.core.lease.LeaseServices;
import io.mortise.lock.core.listener.ListenerNotifier;
import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import java.util.random.RandomGenerator;

/** The objects that all acquire operations of one client share, such as its backend, options and queues. */
public record AcquireServices(
        LockBackend backend,
        ClientOptions options,
        RandomGenerator random,
        LastResponse lastResponse,
        LocalQueues queues,
        OpenAcquires open,
        ListenerNotifier listeners,
        LeaseServices leases) {
    LockClock clock() {
        return leases.clock();
    }
}
