// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import java.util.Optional;
import java.util.Set;

/** Passes everything on. A mutant overrides the one step that it gets wrong. */
class ForwardingClient implements LockClient {
    final LockClient honest;

    ForwardingClient(LockClient honest) {
        this.honest = honest;
    }

    /** What users get for a handle. */
    DistributedLock lock(DistributedLock honest) {
        return new ForwardingLock(honest, this::lease);
    }

    /** What users get for a lease. */
    Lease lease(Lease honest) {
        return new ForwardingLease(honest);
    }

    @Override
    public final DistributedLock named(String name) {
        return named(name, LockOptions.defaults());
    }

    @Override
    public DistributedLock named(String name, LockOptions options) {
        return lock(honest.named(name, options));
    }

    @Override
    public Set<Capability> capabilities() {
        return honest.capabilities();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return honest.admin();
    }

    @Override
    public void close() {
        honest.close();
    }
}
