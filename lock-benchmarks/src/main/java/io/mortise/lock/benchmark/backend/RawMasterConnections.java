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

/** Connections to several masters, which are all asked at once. */
final class RawMasterConnections implements AutoCloseable {
    private final RedisClient client = RedisClient.create();
    private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();

    RawMasterConnections(String endpoint) {
        for (String master : RedlockTestBed.masters(endpoint)) {
            connections.add(client.connect(RedisTestBed.uri(master)));
        }
    }

    /** Loads a script everywhere. */
    String load(String script) {
        return connections.stream()
                .map(connection -> connection.sync().scriptLoad(script))
                .toList()
                .get(0);
    }

    /** Waits until a majority has answered so, or cannot any more. */
    <T> boolean majority(Function<RedisAsyncCommands<String, String>, CompletionStage<T>> question, Predicate<T> yes) {
        return ask(question, yes).join();
    }

    /** As {@link #majority}, without waiting. */
    <T> CompletableFuture<Boolean> ask(
            Function<RedisAsyncCommands<String, String>, CompletionStage<T>> question, Predicate<T> yes) {
        int needed = connections.size() / 2 + 1;
        AtomicInteger agreed = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        CompletableFuture<Boolean> decided = new CompletableFuture<>();
        for (StatefulRedisConnection<String, String> connection : connections) {
            question.apply(connection.async()).whenComplete((answer, failure) -> {
                if (failure == null && yes.test(answer)) {
                    if (agreed.incrementAndGet() == needed) {
                        decided.complete(true);
                    }
                } else if (others.incrementAndGet() > connections.size() - needed) {
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
