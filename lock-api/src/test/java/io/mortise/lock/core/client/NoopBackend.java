// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.Capability;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Base class of test backends that have no queue and no renewals. All locks have the same lease duration. */
public abstract class NoopBackend implements LockBackend {
    public static final Duration LEASE = Duration.ofSeconds(10);

    private final String endpoints;

    public NoopBackend(String endpoints) {
        this.endpoints = endpoints;
    }

    @Override
    public String endpoints() {
        return endpoints;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.FENCING);
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return LEASE;
    }

    @Override
    public boolean queuesWaiters() {
        return false;
    }

    @Override
    public void renew(List<GrantValidity> due) {}

    @Override
    public void close() {}
}
