// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.LockAdmin.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What of a server's settings endangers locks. */
public final class Diagnosis {
    private Diagnosis() {}

    /** Of what INFO says: whether it may throw locks away. */
    public static Optional<Finding> eviction(String info) {
        return EvictionCheck.endangers(info)
                .map(policy -> new Finding(
                        Finding.Severity.WARNING,
                        "maxmemory-policy is " + policy + ": locks may be evicted when the memory is full",
                        "set maxmemory-policy noeviction, or use a Redis of its own for locks"));
    }

    /** Of what INFO says: whether a restart forgets who holds what. */
    public static Optional<Finding> persistence(String info) {
        return ServerInfo.field(info, "aof_enabled")
                .filter("0"::equals)
                .map(off -> new Finding(
                        Finding.Severity.WARNING,
                        "the append-only file is off: a restart forgets who holds what",
                        "set appendonly yes and appendfsync always, or keep a restarted server away for one lease"));
    }

    /** All of that. */
    public static List<Finding> findings(String info) {
        List<Finding> findings = new ArrayList<>();
        eviction(info).ifPresent(findings::add);
        persistence(info).ifPresent(findings::add);
        return findings;
    }
}
