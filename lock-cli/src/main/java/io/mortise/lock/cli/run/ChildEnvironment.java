// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.DefaultOptions;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Environment variables that tell the command its lock: name, owner, token and deadline. */
final class ChildEnvironment {
    private ChildEnvironment() {}

    /**
     * Variables and their values; empty: must not be set.
     *
     * @param keepUrl whether the command may see the store's URL, which may have a password in it
     */
    static Map<String, String> of(Lease lease, boolean keepUrl) {
        Map<String, String> variables = new LinkedHashMap<>();
        if (!keepUrl) {
            variables.put(DefaultOptions.URL, "");
        }
        variables.put("LOCK_NAME", lease.lockName());
        variables.put("LOCK_OWNER", lease.ownerId());
        variables.put("LOCK_FENCING_TOKEN", token(lease));
        variables.put(
                "LOCK_DEADLINE_MILLIS",
                Long.toString(Instant.now().plus(lease.remaining()).toEpochMilli()));
        return variables;
    }

    private static String token(Lease lease) {
        try {
            return Long.toString(lease.fencingToken());
        } catch (UnsupportedOperationException e) {
            return ""; // this store has none
        }
    }
}
