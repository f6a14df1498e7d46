// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import io.mortise.lock.spi.BackendContext;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Opens a connection and makes sure that it works, within the connect timeout. A server that is not up yet is waited for. */
final class FirstContact {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final String PUBSUB_ONLY = "not allowed while subscribed";

    private FirstContact() {}

    static RedisNode await(
            Supplier<StatefulRedisPubSubConnection<String, String>> connect,
            String channel,
            String endpoints,
            BackendContext context,
            int waitReplicas,
            RedisNode.Listener listener) {
        long until = context.clock().nanoTime() + context.connectTimeout().toNanos();
        while (true) {
            try {
                return once(connect, channel, endpoints, context, waitReplicas, listener, until);
            } catch (BackendUnavailableException e) {
                if (until - context.clock().nanoTime() <= PAUSE_NANOS
                        || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private static RedisNode once(
            Supplier<StatefulRedisPubSubConnection<String, String>> connect,
            String channel,
            String endpoints,
            BackendContext context,
            int waitReplicas,
            RedisNode.Listener listener,
            long until) {
        CompletableFuture<RedisNode> contact = new CompletableFuture<>();
        CompletableFuture.supplyAsync(connect, context.blocking()).whenComplete((connection, failure) -> {
            if (failure != null) {
                contact.completeExceptionally(failure);
                return;
            }
            RedisNode node = new RedisNode(connection, endpoints, context, waitReplicas, listener);
            contact.whenComplete((used, unused) -> {
                if (unused != null) { // nobody waits for it any more, or it is of no use
                    node.close();
                }
            });
            node.start(channel).whenComplete((ok, refused) -> {
                if (refused == null) {
                    contact.complete(node);
                } else {
                    contact.completeExceptionally(refused);
                }
            });
        });
        try {
            return contact.get(until - context.clock().nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            contact.completeExceptionally(e);
            throw new BackendUnavailableException(
                    "no answer from " + endpoints + " in "
                            + context.connectTimeout().toMillis() + " ms",
                    e);
        } catch (ExecutionException e) {
            throw explained(e, endpoints);
        } catch (InterruptedException e) {
            contact.completeExceptionally(e);
            Thread.currentThread().interrupt();
            throw new BackendUnavailableException("interrupted while connecting to " + endpoints, e);
        }
    }

    private static LockException explained(ExecutionException failure, String endpoints) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            boolean oldServer = message != null && message.contains("unknown command") && message.contains("HELLO");
            if (oldServer || (message != null && message.contains(PUBSUB_ONLY))) {
                return new LockConfigurationException(
                        endpoints
                                + " does not speak RESP3: Redis 6 or newer is needed, and a client whose options do not pin RESP2");
            }
        }
        return RedisFailure.of(failure, "connect", endpoints);
    }
}
