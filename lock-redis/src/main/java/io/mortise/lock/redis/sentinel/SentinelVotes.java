// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts the answers of the sentinels to one question: which master a majority of all known sentinels names. Each sentinel
 * counts once, whatever the number of addresses under which it was asked.
 */
final class SentinelVotes {
    private final @Nullable SocketAddress server;
    private final int configured;
    private final Map<String, SentinelAnswer> answers = new LinkedHashMap<>(); // by run id
    private int aliases;
    private int told; // the most sentinels that one of them knows, itself included

    /**
     * @param server about which they are asked, null for any
     * @param configured how many addresses of sentinels the client was given
     */
    SentinelVotes(@Nullable SocketAddress server, int configured) {
        this.server = server;
        this.configured = configured;
    }

    /** Returns false if that sentinel has answered already, under another address. */
    boolean add(SentinelAnswer answer) {
        told = Math.max(told, answer.others().size() + 1);
        if (answers.put(answer.runId(), answer) != null) {
            aliases++;
            return false;
        }
        return true;
    }

    /**
     * Returns how many sentinels there are: as many as the one that knows most of them says, which is what a failover needs a
     * majority of, and no fewer than were configured or have answered. A larger number is the safe error.
     */
    int sentinels() {
        return Math.max(Math.max(told, answers.size()), configured - aliases);
    }

    /** Returns how many distinct addresses are worth asking, given that some led to the same sentinel. */
    int worthAsking() {
        return sentinels() + aliases;
    }

    /**
     * Returns what the answers so far come to.
     *
     * @param reasons why sentinels did not answer, for people
     * @param failures the same as exceptions, where there are any
     */
    SentinelVerdict verdict(List<String> reasons, List<Throwable> failures) {
        Map<String, List<SentinelAnswer>> votes =
                new LinkedHashMap<>(); // the server that was asked about may have several names
        answers.values()
                .forEach(answer -> votes.computeIfAbsent(
                                names(answer) ? "" : answer.master(), master -> new ArrayList<>())
                        .add(answer));
        List<SentinelAnswer> most =
                votes.values().stream().max(Comparator.comparing(List::size)).orElse(List.of());
        boolean majority = most.size() > sentinels() / 2;
        Optional<SentinelAnswer> named = most.stream().findFirst();
        return new SentinelVerdict(
                majority && names(most.get(0)),
                majority,
                named,
                sentinels(),
                count(votes) + because(reasons),
                List.copyOf(failures));
    }

    private boolean names(SentinelAnswer answer) {
        return server != null && answer.names(server);
    }

    private String count(Map<String, List<SentinelAnswer>> votes) {
        int naming = votes.getOrDefault("", List.of()).size();
        return server == null
                ? answers.size() + " of " + sentinels() + " sentinels name a master"
                : naming + " of " + sentinels() + " sentinels name " + server + " as the master, "
                        + (answers.size() - naming) + " name another";
    }

    private static String because(List<String> reasons) {
        return reasons.isEmpty() ? "" : "; " + String.join("; ", reasons);
    }
}
