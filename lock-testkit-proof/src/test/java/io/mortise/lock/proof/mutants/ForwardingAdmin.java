// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Passes everything on. */
class ForwardingAdmin implements LockAdmin {
    final LockAdmin honest;

    ForwardingAdmin(LockAdmin honest) {
        this.honest = honest;
    }

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return honest.status(name);
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return honest.list(prefix, limit, cursor);
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        return honest.forceRelease(name, seen);
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return honest.diagnose();
    }

    @Override
    public CompletableFuture<Map<String, Instant>> clocks() {
        return honest.clocks();
    }
}
