// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Counts the answers of the sentinels to one question: whether a majority of all known sentinels names this server. Each
 * sentinel counts once, whatever the number of addresses under which it was asked.
 */
final class SentinelBallot {
    private final SocketAddress server;
    private final int configured;
    private final Map<String, SentinelAnswer> answers = new LinkedHashMap<>(); // by run id
    private int aliases;
    private int told; // the most sentinels that one of them knows, itself included

    /** @param configured how many addresses of sentinels the client was given */
    SentinelBallot(SocketAddress server, int configured) {
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

    private int majority() {
        return sentinels() / 2 + 1;
    }

    private long naming() {
        return answers.values().stream().filter(answer -> answer.names(server)).count();
    }

    /** Returns whether a majority of all known sentinels names the server. */
    boolean confirmed() {
        return naming() >= majority();
    }

    /** Returns the other master that a majority of all known sentinels names. */
    Optional<String> anotherMaster() {
        Map<String, Integer> votes = new LinkedHashMap<>();
        answers.values().stream()
                .filter(answer -> !answer.names(server))
                .forEach(answer -> votes.merge(answer.master(), 1, Integer::sum));
        return votes.entrySet().stream()
                .filter(entry -> entry.getValue() >= majority())
                .map(Map.Entry::getKey)
                .findFirst();
    }

    @Override
    public String toString() {
        return naming() + " of " + sentinels() + " sentinels name " + server + " as the master, "
                + (answers.size() - naming()) + " name another";
    }
}
