// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.grpc.SynchronizationContext;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Limits the number of pending requests; the others wait. Thread-safe, and nobody blocks. */
final class RequestThrottle {
    private static final Logger log = LoggerFactory.getLogger(RequestThrottle.class);

    private final int limit;

    /** Runs what starts and counts the requests, one at a time; requests that fail at once do not nest. */
    private final SynchronizationContext serial = new SynchronizationContext(
            (thread, failure) -> log.warn("event=request-not-sent cause=\"{}\"", failure.toString(), failure));

    private final Queue<Runnable> waiting = new ArrayDeque<>(); // in serial only
    private int underWay; // in serial only

    RequestThrottle(int limit) {
        this.limit = limit;
    }

    <T> CompletionStage<T> run(Supplier<? extends CompletionStage<T>> request) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        serial.execute(() -> {
            waiting.add(() -> send(request, answer));
            startNext();
        });
        return answer;
    }

    private void startNext() {
        while (underWay < limit && !waiting.isEmpty()) {
            underWay++;
            waiting.remove().run();
        }
    }

    private <T> void send(Supplier<? extends CompletionStage<T>> request, CompletableFuture<T> answer) {
        CompletionStage<T> sent;
        try {
            sent = request.get();
        } catch (RuntimeException | Error e) {
            sent = CompletableFuture.failedFuture(e);
        }
        sent.whenComplete((value, failure) -> {
            serial.execute(() -> {
                underWay--;
                startNext();
            });
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(failure);
            }
        });
    }
}
