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
 * Counts the sentinels' replies and determines the master that a majority of all known sentinels names. Each sentinel counts
 * once, even if it was queried under several addresses.
 */
final class SentinelVoteTally {
    private final @Nullable SocketAddress server;
    private final int configured;
    private final Map<String, SentinelReply> answers = new LinkedHashMap<>(); // by run id
    private int aliases;
    private int mostKnown; // the most sentinels that one of them knows, itself included

    /**
     * @param server the server that should be the master; null if any server may be
     * @param configured how many addresses of sentinels are configured
     */
    SentinelVoteTally(@Nullable SocketAddress server, int configured) {
        this.server = server;
        this.configured = configured;
    }

    /** Adds a reply; returns false if that sentinel has already replied under another address. */
    boolean add(SentinelReply answer) {
        mostKnown = Math.max(mostKnown, answer.others().size() + 1);
        if (answers.put(answer.runId(), answer) != null) {
            aliases++;
            return false;
        }
        return true;
    }

    /**
     * Returns the number of sentinels: the largest number that one of them knows, since a failover needs a majority of it,
     * but no fewer than are configured or have replied. A number that is too large is safe.
     */
    int sentinels() {
        return Math.max(Math.max(mostKnown, answers.size()), configured - aliases);
    }

    /** Returns how many distinct addresses are worth querying, given that some led to the same sentinel. */
    int addressesWorthQuerying() {
        return sentinels() + aliases;
    }

    /**
     * Returns the verdict of the replies so far.
     *
     * @param reasons why sentinels did not reply, for messages
     * @param failures the same reasons as exceptions, where there are any
     */
    SentinelVerdict verdict(List<String> reasons, List<Throwable> failures) {
        Map<String, List<SentinelReply>> votes =
                new LinkedHashMap<>(); // "" stands for the expected server, which may have several names
        answers.values()
                .forEach(answer -> votes.computeIfAbsent(
                                names(answer) ? "" : answer.master(), master -> new ArrayList<>())
                        .add(answer));
        List<SentinelReply> most =
                votes.values().stream().max(Comparator.comparing(List::size)).orElse(List.of());
        boolean majority = most.size() > sentinels() / 2;
        Optional<SentinelReply> named = most.stream().findFirst();
        return new SentinelVerdict(
                majority && names(most.get(0)),
                majority,
                named,
                sentinels(),
                count(votes) + because(reasons),
                List.copyOf(failures));
    }

    private boolean names(SentinelReply answer) {
        return server != null && answer.names(server);
    }

    private String count(Map<String, List<SentinelReply>> votes) {
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
