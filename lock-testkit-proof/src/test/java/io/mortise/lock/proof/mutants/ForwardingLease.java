// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A {@link Lease} that forwards every call to another one; mutants override single methods. */
class ForwardingLease implements Lease {
    final Lease delegate;

    ForwardingLease(Lease delegate) {
        this.delegate = delegate;
    }

    @Override
    public String lockName() {
        return delegate.lockName();
    }

    @Override
    public String ownerId() {
        return delegate.ownerId();
    }

    @Override
    public long fencingToken() {
        return delegate.fencingToken();
    }

    @Override
    public boolean isHeld() {
        return delegate.isHeld();
    }

    @Override
    public void ensureHeld() {
        delegate.ensureHeld();
    }

    @Override
    public Duration remaining() {
        return delegate.remaining();
    }

    @Override
    public CompletableFuture<LossReason> lost() {
        return delegate.lost();
    }

    @Override
    public void onExpiring(Duration before, Runnable callback) {
        delegate.onExpiring(before, callback);
    }

    @Override
    public ReleaseOutcome release() {
        return delegate.release();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        return delegate.releaseAsync();
    }

    @Override
    public ReleaseOutcome releaseAfter(Duration delay) {
        return delegate.releaseAfter(delay);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAfterAsync(Duration delay) {
        return delegate.releaseAfterAsync(delay);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return delegate.unwrap(type);
    }

    @Override
    public final void close() {
        release();
    }
}
