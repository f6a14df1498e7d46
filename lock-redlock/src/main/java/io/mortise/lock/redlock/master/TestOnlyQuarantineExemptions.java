// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The masters that may vote without the usual quarantine of an empty master, in tests that start all masters empty. A client
 * must have found all of them empty at the same time. Immutable.
 *
 * <p>The exemption of a master ends when the master votes or loses its data. See ADR 0029.
 */
record TestOnlyQuarantineExemptions(Set<Incarnation> incarnations) {
    static final TestOnlyQuarantineExemptions NONE = new TestOnlyQuarantineExemptions(Set.of());

    /**
     * Identifies one quarantine of one master: from its first detection until the master votes or loses its data.
     *
     * @param runId Redis run id of the master's process
     * @param quarantinedSince time by the master's clock when the quarantine was first detected; empty if the master votes. A
     *     loss of data in the same process changes it
     */
    record Incarnation(String runId, Optional<ServerTime> quarantinedSince) {}

    /**
     * Returns the exempt masters after another handshake: all masters if all of them are empty, else the same as before.
     *
     * @param empty one element for each master, which is empty if the master has data or does not reply
     */
    TestOnlyQuarantineExemptions update(List<Optional<Incarnation>> empty) {
        boolean allAreNew = empty.stream().allMatch(Optional::isPresent);
        return allAreNew
                ? new TestOnlyQuarantineExemptions(
                        empty.stream().flatMap(Optional::stream).collect(Collectors.toSet()))
                : this;
    }

    boolean contains(Incarnation incarnation) {
        return incarnations.contains(incarnation);
    }
}
