// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.DistributedLock;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The {@code lockctl run} that has started this lockctl process, directly or indirectly.
 *
 * @param name the name of its lock
 * @param owner the owner id of its lease
 */
record EnclosingRun(String name, String owner) {
    private static final int STATUS_TIMEOUT_SECONDS = 5;
    private static final int MAX_ASCII = 127;

    /** Reads the variables that the enclosing run has set; empty if there is no enclosing run. */
    static Optional<EnclosingRun> of(Map<String, String> environment) {
        String name = environment.get("LOCK_NAME");
        String owner = environment.get("LOCK_OWNER");
        return name == null || owner == null ? Optional.empty() : Optional.of(new EnclosingRun(name, owner));
    }

    /**
     * Returns whether the enclosing run holds the given lock, so that this process would wait for itself. The owner id is
     * compared, as a lock with the same name in another store has another owner.
     */
    boolean holds(DistributedLock lock) throws InterruptedException {
        boolean mayBeGarbled = name.chars().anyMatch(c -> c > MAX_ASCII); // by the locale: then only the owner id tells
        if (!lock.name().equals(name) && !mayBeGarbled) {
            return false;
        }
        try {
            return lock.status().get(STATUS_TIMEOUT_SECONDS, TimeUnit.SECONDS).holders().stream()
                    .anyMatch(holder -> owner.equals(holder.owner().orElse("")));
        } catch (UnsupportedOperationException | ExecutionException | TimeoutException e) {
            return false; // unknown: then this process waits for the lock as usual
        }
    }
}
