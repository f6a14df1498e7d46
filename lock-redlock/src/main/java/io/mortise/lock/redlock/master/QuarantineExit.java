// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends the requests by which a master leaves quarantine with the highest token counters of the others. Thread-safe. */
final class QuarantineExit {
    private static final Logger log = LoggerFactory.getLogger(QuarantineExit.class);

    private final RedlockKeys keys;
    private final Duration maxLease;

    QuarantineExit(RedlockKeys keys, Duration maxLease) {
        this.keys = keys;
        this.maxLease = maxLease;
    }

    /**
     * Reads the token counters of those of the masters that vote. The result lacks a master that does not reply within its
     * timeout, since one silent master must not keep another one in quarantine.
     */
    CompletionStage<Map<RedlockMaster, List<Long>>> readCounters(List<RedlockMaster> peers) {
        Map<RedlockMaster, List<Long>> counters = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> reads = new ArrayList<>();
        for (RedlockMaster peer : peers) {
            MasterHandshakeReply voting = peer.voting();
            if (voting != null) {
                reads.add(readCounters(voting)
                        .handle((reply, failure) -> {
                            if (failure != null) {
                                log.debug("event=counters-not-read master={}", peer.endpoint(), failure);
                            } else if (!reply.isEmpty() && voting.isCurrent()) { // else it may have lost them
                                counters.put(
                                        peer,
                                        reply.stream().map(Long.class::cast).toList());
                            }
                            return counters;
                        })
                        .toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new)).thenApply(ok -> counters);
    }

    /** Reads by a script, since the node client notices only by scripts that a connection is silent. */
    private CompletionStage<List<Object>> readCounters(MasterHandshakeReply voting) {
        return voting.node()
                .execute(
                        "reading counters",
                        RedlockScript.READ_COUNTERS.script(),
                        new String[] {keys.state()},
                        Stream.concat(Stream.of(voting.runId()), RedlockKeys.buckets().stream())
                                .toArray(String[]::new));
    }

    /**
     * Lets a master vote from now on.
     *
     * @param isNew whether the master has never voted, so that its quarantine need not have ended
     * @param counters counters of other masters
     * @return completes with false if the master has lost its data since that handshake, its quarantine has not ended by its own clock, or
     *     it stores another longest lease
     */
    CompletionStage<Boolean> leave(
            MasterHandshakeReply handshake, boolean isNew, Collection<List<Long>> counters, boolean raiseToClock) {
        ServerTime since = handshake.state().quarantinedSince().orElse(ServerTime.UNKNOWN);
        List<String> args = new ArrayList<>(List.of(
                handshake.runId(),
                String.valueOf(since.micros()),
                String.valueOf(maxLease.toMillis()),
                raiseToClock ? "1" : "0",
                isNew ? "1" : "0",
                keys.channels()));
        for (int bucket = 0; bucket < RedlockKeys.BUCKETS; bucket++) {
            int index = bucket;
            args.add(RedlockKeys.buckets().get(bucket));
            args.add(String.valueOf(
                    counters.stream().mapToLong(known -> known.get(index)).max().orElse(0)));
        }
        return handshake
                .node()
                .execute(
                        "leaving quarantine",
                        RedlockScript.LEAVE_QUARANTINE.script(),
                        new String[] {keys.state()},
                        args.toArray(String[]::new))
                .thenApply(reply -> reply.get(0).equals(1L));
    }
}
