// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A {@link LockBackend} that forwards every call to another one; subclasses override single methods. */
class PlainForwardingBackend implements LockBackend {
    final LockBackend delegate;

    PlainForwardingBackend(LockBackend delegate) {
        this.delegate = delegate;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return delegate.enqueue(request, listener);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        delegate.renew(due);
    }

    @Override
    public String endpoints() {
        return delegate.endpoints();
    }

    @Override
    public String kind() {
        return delegate.kind();
    }

    @Override
    public Set<Capability> capabilities() {
        return delegate.capabilities();
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        return delegate.leaseDuration(requested);
    }

    @Override
    public void checkReleaseDelay(Duration delay) {
        delegate.checkReleaseDelay(delay);
    }

    @Override
    public boolean queuesWaiters() {
        return delegate.queuesWaiters();
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
