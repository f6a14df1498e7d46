// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.DistributedLock;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The {@code lockctl run} under which this process runs, if any.
 *
 * @param name of its lock
 * @param owner of its lease
 */
record EnclosingRun(String name, String owner) {
    private static final int LOOKS_FOR_SECONDS = 5;

    /** What it has told us by our environment; empty: there is none. */
    static Optional<EnclosingRun> of(Map<String, String> environment) {
        String name = environment.get("LOCK_NAME");
        String owner = environment.get("LOCK_OWNER");
        return name == null || owner == null ? Optional.empty() : Optional.of(new EnclosingRun(name, owner));
    }

    /**
     * Whether that lock is the one it holds, so that to wait for it is to wait for ourselves. The owner tells: a lock of the same
     * name in another store has another one.
     */
    boolean holds(DistributedLock lock) throws InterruptedException {
        if (!lock.name().equals(name)) {
            return false;
        }
        try {
            return lock.status().get(LOOKS_FOR_SECONDS, TimeUnit.SECONDS).holders().stream()
                    .anyMatch(holder -> owner.equals(holder.owner().orElse("")));
        } catch (UnsupportedOperationException | ExecutionException | TimeoutException e) {
            return false; // nobody knows
        }
    }
}
