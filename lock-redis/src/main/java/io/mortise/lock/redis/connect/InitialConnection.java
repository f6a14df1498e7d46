// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.connect;

import io.lettuce.core.RedisURI;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.ConnectDeadline;
import io.mortise.lock.spi.support.LinkageErrorCheck;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Opens the first connections, within the connect timeout, and makes sure that they work. A server that is not up yet is
 * waited for.
 */
public final class InitialConnection {
    /** What the server and Lettuce say to commands on a connection that listens, without RESP3. */
    private static final Pattern PUBSUB_ONLY =
            Pattern.compile(".*(allowed in this context|not allowed while subscribed).*", Pattern.DOTALL);

    /** What Lettuce says to an answer in another protocol. */
    private static final String NOT_REDIS = "Invalid first byte";

    private InitialConnection() {}

    /**
     * Blocks until it works.
     *
     * @param connect may block; completes once it works
     * @param discard ends one that came too late
     * @param servers that are connected to, as far as they are known
     * @throws LockException what the last try, or one that was refused, failed with
     */
    public static <T> T await(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<T> discard,
            List<RedisURI> servers,
            String endpoints,
            BackendContext context) {
        long millis = context.connectTimeout().toMillis();
        ConnectDeadline deadline = ConnectDeadline.of(endpoints, context.connectTimeout())
                .orSay(() -> "no connection to " + endpoints + " in " + millis + " ms");
        return deadline.tryFor(() -> once(connect, discard, servers, endpoints, context, deadline));
    }

    private static <T> T once(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<T> discard,
            List<RedisURI> servers,
            String endpoints,
            BackendContext context,
            ConnectDeadline deadline) {
        CompletableFuture<T> connecting = ConnectAttempt.begin(connect, discard, servers, context);
        try {
            return deadline.await(connecting, failure -> explained(failure, endpoints));
        } catch (LockException e) {
            connecting.thenAccept(discard); // nobody waits for it any more
            throw e;
        }
    }

    /** Why a server could not be opened, in words that help. */
    public static LockException explained(Throwable failure, String endpoints) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            boolean oldServer = message != null && message.contains("unknown command") && message.contains("HELLO");
            if (oldServer || (message != null && PUBSUB_ONLY.matcher(message).matches())) {
                return new LockConfigurationException(
                        endpoints
                                + " does not speak RESP3: Redis 6 or newer is needed, and a client whose options do not pin RESP2");
            }
        }
        String reason = RedisErrors.reason(failure);
        if (reason.startsWith(NOT_REDIS)) {
            return new BackendRefusedException(
                    endpoints + " does not speak Redis' protocol: another service listens there (" + reason + ")",
                    failure);
        }
        Optional<LockConfigurationException> unlinked = LinkageErrorCheck.find(failure, "connect to " + endpoints);
        return unlinked.isPresent() ? unlinked.get() : RedisErrors.of(failure, "connect", endpoints);
    }
}
