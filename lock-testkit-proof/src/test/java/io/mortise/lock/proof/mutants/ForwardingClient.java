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

/** A {@link LockClient} that forwards every call to another one; each mutant overrides the step that it gets wrong. */
class ForwardingClient implements LockClient {
    final LockClient delegate;

    ForwardingClient(LockClient delegate) {
        this.delegate = delegate;
    }

    /** Returns the lock to hand to users. */
    DistributedLock lock(DistributedLock delegate) {
        return new ForwardingLock(delegate, this::lease);
    }

    /** Returns the lease to hand to users. */
    Lease lease(Lease delegate) {
        return new ForwardingLease(delegate);
    }

    @Override
    public final DistributedLock named(String name) {
        return named(name, LockOptions.defaults());
    }

    @Override
    public DistributedLock named(String name, LockOptions options) {
        return lock(delegate.named(name, options));
    }

    @Override
    public Set<Capability> capabilities() {
        return delegate.capabilities();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return delegate.admin();
    }

    @Override
    public void close() {
        delegate.close();
    }
}
