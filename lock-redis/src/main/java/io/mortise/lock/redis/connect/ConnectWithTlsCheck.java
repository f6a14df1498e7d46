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
 * Tries once to open a connection, and fails early if only one side uses TLS. A server that stays silent or closes the
 * connection may have this mismatch, which does not pass with time. It is checked with a separate connection.
 */
public final class ConnectWithTlsCheck<T> {
    /** The time in which a healthy server has responded. */
    private static final Duration PROBE_DELAY = Duration.ofMillis(500);

    private final List<RedisURI> servers;
    private final BackendContext context;
    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    private ConnectWithTlsCheck(List<RedisURI> servers, BackendContext context) {
        this.servers = servers;
        this.context = context;
    }

    /**
     * Starts the attempt. Does not block.
     *
     * @param connect opens the connection and completes once it works; may block
     * @param discard closes a connection that was opened too late
     * @param servers the servers whose protocol is checked
     */
    public static <T> CompletableFuture<T> begin(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<? super T> discard,
            List<RedisURI> servers,
            BackendContext context) {
        ConnectWithTlsCheck<T> attempt = new ConnectWithTlsCheck<>(servers, context);
        CompletableFuture<T> connecting =
                CompletableFuture.supplyAsync(connect, context.blocking()).thenCompose(Function.identity());
        LockClock.Timer silence = context.clock().schedule(PROBE_DELAY, () -> attempt.probe(attempt::refuse));
        connecting.whenComplete((opened, failure) -> {
            silence.cancel();
            if (failure == null && !attempt.outcome.complete(opened)) {
                discard.accept(opened);
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
        } catch (RejectedExecutionException e) { // the client is being closed
            then.accept(Optional.empty());
        }
    }
}
