// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class RequestThrottleTest {
    private final RequestThrottle throttle = new RequestThrottle(3);
    private final List<CompletableFuture<String>> sent = new ArrayList<>();

    private CompletionStage<String> send() {
        CompletableFuture<String> request = new CompletableFuture<>();
        sent.add(request);
        return request;
    }

    @Test
    void noMoreRequestsThanTheLimitAreInFlight() {
        List<CompletionStage<String>> results = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            results.add(throttle.run(this::send));
        }
        assertThat(sent).hasSize(3);
        sent.get(1).complete("one");
        assertThat(sent).hasSize(4);
        sent.get(0).completeExceptionally(new IllegalStateException("two"));
        assertThat(sent).hasSize(5);
        for (int i = 2; i < 10; i++) {
            sent.get(i).complete("more");
        }
        assertThat(results).allMatch(result -> result.toCompletableFuture().isDone());
        assertThat(results.get(0).toCompletableFuture()).isCompletedExceptionally();
    }

    @Test
    void manyRequestsThatFailAtOnceDoNotNest() {
        CompletableFuture<String> first = new CompletableFuture<>();
        RequestThrottle one = new RequestThrottle(1);
        List<CompletionStage<String>> results = new ArrayList<>();
        CompletionStage<String> running = one.run(() -> first);
        for (int i = 0; i < 100_000; i++) {
            results.add(one.run(() -> {
                throw new IllegalStateException("not sent");
            }));
        }
        first.complete("done");
        assertThat(running.toCompletableFuture()).isCompletedWithValue("done");
        assertThat(results).allMatch(result -> result.toCompletableFuture().isCompletedExceptionally());
    }
}
