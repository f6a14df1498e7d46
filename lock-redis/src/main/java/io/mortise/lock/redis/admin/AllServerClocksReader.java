// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Reads the wall clocks of several Redis servers, so that an operator can compare them. */
public final class AllServerClocksReader {
    private AllServerClocksReader() {}

    /** Returns the time of each server by the same names, without servers that do not respond. Queries all of them at once. */
    public static CompletionStage<Map<String, Instant>> of(Map<String, RedisNodeClient> servers) {
        CompletionStage<Map<String, Instant>> all = CompletableFuture.completedFuture(new LinkedHashMap<>());
        for (Map.Entry<String, RedisNodeClient> server : servers.entrySet()) {
            CompletionStage<Optional<Instant>> one = server.getValue()
                    .<List<String>>execute("clock", commands -> commands.time())
                    .handle((time, failure) ->
                            failure == null ? Optional.of(ServerTime.of(time).instant()) : Optional.empty());
            all = all.thenCombine(one, (clocks, time) -> {
                time.ifPresent(now -> clocks.put(server.getKey(), now));
                return clocks;
            });
        }
        return all.thenApply(Map::copyOf);
    }
}
