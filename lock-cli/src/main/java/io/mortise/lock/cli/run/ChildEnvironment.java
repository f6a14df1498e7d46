// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.cli.invocation.DefaultStoreUrl;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Builds the {@code LOCK_*} environment variables that describe the lock to the command of {@code lockctl run}. */
final class ChildEnvironment {
    private ChildEnvironment() {}

    /**
     * Returns the variables by name; a variable with an empty value must be removed.
     *
     * @param keepUrl whether the command may see the store's URL, which may contain a password
     */
    static Map<String, String> of(Lease lease, boolean keepUrl) {
        Map<String, String> variables = new LinkedHashMap<>();
        if (!keepUrl) {
            variables.put(DefaultStoreUrl.URL, "");
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
            return ""; // the store has no fencing tokens
        }
    }
}
