// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.connect;

import io.lettuce.core.RedisURI;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.spi.support.LinkageErrorCheck;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Opens a client's initial connection, and blocks until it is usable or the connect timeout expires. It retries while the
 * server is not up yet.
 */
public final class InitialConnection {
    /** Errors of the server and of Lettuce for a command on a subscribed connection without RESP3. */
    private static final Pattern PUBSUB_ONLY =
            Pattern.compile(".*(allowed in this context|not allowed while subscribed).*", Pattern.DOTALL);

    /** Lettuce's error for a reply in another protocol. */
    private static final String NOT_REDIS = "Invalid first byte";

    private InitialConnection() {}

    /**
     * Opens the connection and blocks until it works.
     *
     * @param connect opens the connection and completes once it works; may block
     * @param discard closes a connection that was opened too late
     * @param servers the servers of the connection, as far as they are known
     * @throws LockException the failure of the last try, or of one that was refused
     */
    public static <T> T await(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<T> discard,
            List<RedisURI> servers,
            String endpoints,
            BackendContext context) {
        long millis = context.connectTimeout().toMillis();
        ConnectRetrier deadline = ConnectRetrier.of(endpoints, context.connectTimeout())
                .withTimeoutMessage(() -> "no connection to " + endpoints + " in " + millis + " ms");
        return deadline.retry(() -> once(connect, discard, servers, endpoints, context, deadline));
    }

    private static <T> T once(
            Supplier<? extends CompletionStage<T>> connect,
            Consumer<T> discard,
            List<RedisURI> servers,
            String endpoints,
            BackendContext context,
            ConnectRetrier deadline) {
        CompletableFuture<T> connecting = ConnectWithTlsCheck.begin(connect, discard, servers, context);
        try {
            return deadline.await(connecting, failure -> explained(failure, endpoints));
        } catch (LockException e) {
            connecting.thenAccept(discard); // the caller no longer waits for the connection
            throw e;
        }
    }

    /** Returns an exception that explains why the connection could not be opened and what to do. */
    public static LockException explained(Throwable failure, String endpoints) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            boolean oldServer = message != null && message.contains("unknown command") && message.contains("HELLO");
            if (oldServer || (message != null && PUBSUB_ONLY.matcher(message).matches())) {
                return new LockConfigurationException(endpoints
                        + " does not speak RESP3: use Redis 6 or newer, and a client whose options do not pin RESP2");
            }
        }
        String reason = RedisErrors.reason(failure);
        if (reason.startsWith(NOT_REDIS)) {
            return new BackendRefusedException(
                    endpoints + " does not speak Redis' protocol: check host and port, another service listens there ("
                            + reason + ")",
                    failure);
        }
        Optional<LockConfigurationException> unlinked = LinkageErrorCheck.find(failure, "connect to " + endpoints);
        return unlinked.isPresent() ? unlinked.get() : RedisErrors.of(failure, "connect", endpoints);
    }
}
