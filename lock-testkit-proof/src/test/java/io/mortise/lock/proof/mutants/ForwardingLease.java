// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Passes everything on. */
class ForwardingLease implements Lease {
    final Lease honest;

    ForwardingLease(Lease honest) {
        this.honest = honest;
    }

    @Override
    public String lockName() {
        return honest.lockName();
    }

    @Override
    public String ownerId() {
        return honest.ownerId();
    }

    @Override
    public long fencingToken() {
        return honest.fencingToken();
    }

    @Override
    public boolean isHeld() {
        return honest.isHeld();
    }

    @Override
    public void ensureHeld() {
        honest.ensureHeld();
    }

    @Override
    public Duration remaining() {
        return honest.remaining();
    }

    @Override
    public CompletableFuture<LossReason> lost() {
        return honest.lost();
    }

    @Override
    public void onExpiring(Duration before, Runnable callback) {
        honest.onExpiring(before, callback);
    }

    @Override
    public ReleaseOutcome release() {
        return honest.release();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        return honest.releaseAsync();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return honest.unwrap(type);
    }

    @Override
    public final void close() {
        release();
    }
}
