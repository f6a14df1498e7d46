// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The masters that a client has found new, in tests alone: all of them at the same time (ADR 0029). Each of them may then vote at
 * once, whoever votes by then, unless it has voted or lost its data in between. Immutable, pure.
 */
record NewMasters(Set<Life> lives) {
    static final NewMasters NONE = new NewMasters(Set.of());

    /**
     * A master that does not vote, from when that was first seen until it votes or loses its data.
     *
     * @param run the id of its process
     * @param sinceMicros when that was seen, by the master's clock; a loss in the same process changes it
     */
    record Life(String run, long sinceMicros) {}

    /**
     * What is known after a look at all masters.
     *
     * @param empty one for each master: empty if it has data or does not answer
     */
    NewMasters after(List<Optional<Life>> empty) {
        boolean allAreNew = empty.stream().allMatch(Optional::isPresent);
        return allAreNew
                ? new NewMasters(empty.stream().flatMap(Optional::stream).collect(Collectors.toSet()))
                : this;
    }

    boolean contain(Life life) {
        return lives.contains(life);
    }
}
