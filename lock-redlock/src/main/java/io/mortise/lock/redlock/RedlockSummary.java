// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What each master said to the attempt that a lease came from, by {@code lease.unwrap(RedlockSummary.class)}: for logs, and to
 * see a master that is slow or away while locks still work.
 *
 * @param masters in the order in which they were given
 */
public record RedlockSummary(List<Instance> masters) {
    /** A master's part in one attempt. */
    public enum Vote {
        /** The key is ours there. */
        ACQUIRED,
        /** Somebody else's key is there. */
        CONFLICTED,
        /** No answer, or none that counts. */
        FAILED,
        /** It has not answered yet, or was not asked, since the others had decided. */
        PENDING
    }

    /**
     * One master.
     *
     * @param endpoint without secrets
     * @param error why its vote failed; empty otherwise
     */
    public record Instance(String endpoint, Vote vote, Optional<String> error) {
        @Override
        public String toString() {
            return endpoint + " " + vote + error.map(why -> " (" + why + ")").orElse("");
        }
    }

    /** How many said so. */
    public long count(Vote vote) {
        return masters.stream().filter(master -> master.vote == vote).count();
    }

    /** That no majority answered, for people: how many did, and why each of the others did not. */
    String withoutQuorum() {
        return withoutQuorum(
                count(Vote.ACQUIRED) + count(Vote.CONFLICTED),
                masters.size(),
                masters.stream()
                        .filter(master -> master.vote == Vote.FAILED)
                        .map(master -> silent(master.endpoint, master.error.orElse("no answer")))
                        .toList());
    }

    /** @param silent those that did not answer, each as {@link #silent} says */
    static String withoutQuorum(long answered, int masters, Collection<String> silent) {
        return "no quorum: " + answered + " of " + masters + " masters answered, these did not: "
                + String.join(", ", silent);
    }

    static String silent(String endpoint, String why) {
        return endpoint + " (" + why.replace(" from " + endpoint, "") + ")";
    }

    /** One line for people. */
    @Override
    public String toString() {
        return masters.stream().map(Instance::toString).collect(Collectors.joining("; "));
    }
}
