// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The masters that a client of a test has found new, all of them at the same time (ADR 0029). Each of them may vote without
 * quarantine unless it has voted or lost its data since. Immutable.
 */
record QuarantineExemptMasters(Set<Incarnation> incarnations) {
    static final QuarantineExemptMasters NONE = new QuarantineExemptMasters(Set.of());

    /**
     * Identifies a master from when it was first seen in quarantine until it votes or loses its data.
     *
     * @param runId the Redis run id of its process
     * @param quarantinedSince when the quarantine was first seen, by the master's clock; empty if it votes; a loss in the same process changes it
     */
    record Incarnation(String runId, Optional<ServerTime> quarantinedSince) {}

    /**
     * Returns what is known after all masters were read.
     *
     * @param empty one element for each master; empty if the master has data or does not answer
     */
    QuarantineExemptMasters update(List<Optional<Incarnation>> empty) {
        boolean allAreNew = empty.stream().allMatch(Optional::isPresent);
        return allAreNew
                ? new QuarantineExemptMasters(
                        empty.stream().flatMap(Optional::stream).collect(Collectors.toSet()))
                : this;
    }

    boolean contains(Incarnation incarnation) {
        return incarnations.contains(incarnation);
    }
}
