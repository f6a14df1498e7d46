// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Lists, inspects and forcibly releases the locks of a {@link MemoryStore}. A cursor is the last name on its page. */
record MemoryAdmin(MemoryBackend connection, MemoryStore store) implements LockAdmin {
    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return connection
                .send("status of lock \"" + LockName.shown(name) + "\"", () -> store.status(name))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return connection
                .send("list of locks", () -> {
                    List<LockStatus> found = store.list(prefix, limit, cursor);
                    return new Page(
                            found,
                            found.size() < limit
                                    ? Optional.empty()
                                    : Optional.of(found.get(limit - 1).name()));
                })
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        LossReason reason = new LossReason(LossReason.Kind.REMOVED, "an operator released it");
        return connection
                .send(
                        "forced release of lock \"" + LockName.shown(name) + "\"",
                        () -> store.removeGrant(name, seen, reason))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return connection
                .send("diagnosis", () -> {
                    List<Finding> findings = new ArrayList<>();
                    findings.add(new Finding(
                            Finding.Severity.INFO,
                            "locks in memory exclude nobody outside this JVM",
                            "choose another backend where several processes share the locks"));
                    if (connection.faulty()) {
                        findings.add(new Finding(
                                Finding.Severity.WARNING,
                                "injected faults are active",
                                "end them with MemoryFaults.heal()"));
                    }
                    return findings;
                })
                .toCompletableFuture();
    }
}
