// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.connect;

import io.lettuce.core.RedisURI;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One try to open a connection. A server that says nothing, or hangs up, may be one that speaks TLS where we do not, or the
 * other way round: it is asked by a connection of its own, since no waiting helps there.
 */
public final class ConnectAttempt<T> {
    /** A server that is well has answered by then. */
    private static final Duration PROBE_DELAY = Duration.ofMillis(500);

    private final List<RedisURI> servers;
    private final BackendContext context;
    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    private ConnectAttempt(List<RedisURI> servers, BackendContext context) {
        this.servers = servers;
        this.context = context;
    }

    /**
     * Does not block.
     *
     * @param connect may block; completes once it works
     * @param discard ends one that came too late
     * @param servers that are asked what they speak
     */
    public static <T> CompletableFuture<T> begin(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<? super T> discard,
            List<RedisURI> servers,
            BackendContext context) {
        ConnectAttempt<T> attempt = new ConnectAttempt<>(servers, context);
        CompletableFuture<T> connecting =
                CompletableFuture.supplyAsync(connect, context.blocking()).thenCompose(Function.identity());
        LockClock.Timer silence = context.clock().schedule(PROBE_DELAY, () -> attempt.probe(attempt::refuse));
        connecting.whenComplete((made, failure) -> {
            silence.cancel();
            if (failure == null && !attempt.outcome.complete(made)) {
                discard.accept(made);
            } else if (failure != null) {
                attempt.failed(failure);
            }
        });
        return attempt.outcome;
    }

    private void failed(Throwable failure) {
        if (RedisErrors.isConnectionRefused(failure)) {
            outcome.completeExceptionally(failure);
        } else {
            probe(mismatch -> {
                refuse(mismatch);
                outcome.completeExceptionally(failure);
            });
        }
    }

    private void refuse(Optional<String> mismatch) {
        mismatch.ifPresent(why -> outcome.completeExceptionally(new BackendRefusedException(why)));
    }

    private void probe(Consumer<Optional<String>> then) {
        if (servers.isEmpty() || outcome.isDone()) {
            then.accept(Optional.empty());
            return;
        }
        try {
            context.blocking()
                    .execute(() -> then.accept(servers.stream()
                            .flatMap(server -> PortProtocolProbe.mismatch(server).stream())
                            .findFirst()));
        } catch (RejectedExecutionException e) { // the client ends
            then.accept(Optional.empty());
        }
    }
}
