// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A {@link LockAdmin} that forwards every call to another one; mutants override single methods. */
class ForwardingAdmin implements LockAdmin {
    final LockAdmin delegate;

    ForwardingAdmin(LockAdmin delegate) {
        this.delegate = delegate;
    }

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return delegate.status(name);
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return delegate.list(prefix, limit, cursor);
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        return delegate.forceRelease(name, seen);
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return delegate.diagnose();
    }

    @Override
    public CompletableFuture<Map<String, Instant>> clocks() {
        return delegate.clocks();
    }
}
