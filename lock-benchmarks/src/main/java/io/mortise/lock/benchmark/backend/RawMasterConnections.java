// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;

/** Sends each request to several Redis masters in parallel and waits for a majority of their replies. */
final class RawMasterConnections implements AutoCloseable {
    private final RedisClient client = RedisClient.create();
    private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();

    RawMasterConnections(String endpoint) {
        for (String master : RedlockTestBed.masters(endpoint)) {
            connections.add(client.connect(RedisTestBed.uri(master)));
        }
    }

    /** Loads a script on all masters and returns its SHA-1 digest. */
    String load(String script) {
        return connections.stream()
                .map(connection -> connection.sync().scriptLoad(script))
                .toList()
                .get(0);
    }

    /**
     * Sends a request to all masters and waits until a majority has accepted it, or no longer can.
     *
     * @param accepted whether a reply counts as acceptance
     * @return whether a majority has accepted the request
     */
    <T> boolean majority(
            Function<RedisAsyncCommands<String, String>, CompletionStage<T>> request, Predicate<T> accepted) {
        return majorityAsync(request, accepted).join();
    }

    /** Does the same as {@link #majority}, without waiting. */
    <T> CompletableFuture<Boolean> majorityAsync(
            Function<RedisAsyncCommands<String, String>, CompletionStage<T>> request, Predicate<T> accepted) {
        int needed = connections.size() / 2 + 1;
        AtomicInteger acceptances = new AtomicInteger();
        AtomicInteger rejections = new AtomicInteger();
        CompletableFuture<Boolean> decided = new CompletableFuture<>();
        for (StatefulRedisConnection<String, String> connection : connections) {
            request.apply(connection.async()).whenComplete((reply, failure) -> {
                if (failure == null && accepted.test(reply)) {
                    if (acceptances.incrementAndGet() == needed) {
                        decided.complete(true);
                    }
                } else if (rejections.incrementAndGet() > connections.size() - needed) {
                    decided.complete(false);
                }
            });
        }
        return decided;
    }

    @Override
    public void close() {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
