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

/**
 * Limits the number of requests that are in flight at the same time, and queues the others. Thread-safe and non-blocking.
 */
final class RequestThrottle {
    private static final Logger log = LoggerFactory.getLogger(RequestThrottle.class);

    private final int limit;

    /** Starts and counts the requests, one at a time; requests that fail at once do not nest. */
    private final SynchronizationContext serial = new SynchronizationContext(
            (thread, failure) -> log.warn("event=request-not-sent cause=\"{}\"", failure.toString(), failure));

    private final Queue<Runnable> waiting = new ArrayDeque<>(); // accessed in serial only
    private int inFlight; // accessed in serial only

    RequestThrottle(int limit) {
        this.limit = limit;
    }

    <T> CompletionStage<T> run(Supplier<? extends CompletionStage<T>> request) {
        CompletableFuture<T> result = new CompletableFuture<>();
        serial.execute(() -> {
            waiting.add(() -> send(request, result));
            startNext();
        });
        return result;
    }

    private void startNext() {
        while (inFlight < limit && !waiting.isEmpty()) {
            inFlight++;
            waiting.remove().run();
        }
    }

    private <T> void send(Supplier<? extends CompletionStage<T>> request, CompletableFuture<T> result) {
        CompletionStage<T> sent;
        try {
            sent = request.get();
        } catch (RuntimeException | Error e) {
            sent = CompletableFuture.failedFuture(e);
        }
        sent.whenComplete((value, failure) -> {
            serial.execute(() -> {
                inFlight--;
                startNext();
            });
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }
}
