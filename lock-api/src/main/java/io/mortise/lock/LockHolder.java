// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One holder of a lock, or one waiter, as the store shows it. What it says was written by that process and is untrusted (S19).
 *
 * @param owner {@link Lease#ownerId()} of the grant
 * @param host the host name that the process gave
 * @param pid its process id there
 * @param since when it asked for the lock, by its own wall clock
 * @param token its fencing token
 * @param metadata {@link LockOptions#metadata()}; of a foreign one what the backend can tell of it, such as {@code client}, what
 *     made it
 * @param foreign true if another client made it: a Curator node, a bare key; the fields above are then mostly empty
 * @param raw what the store holds, as it is
 */
public record LockHolder(
        Optional<String> owner,
        Optional<String> host,
        OptionalLong pid,
        Optional<Instant> since,
        OptionalLong token,
        Map<String, String> metadata,
        boolean foreign,
        String raw) {
    public LockHolder {
        metadata = Map.copyOf(metadata);
    }
}
