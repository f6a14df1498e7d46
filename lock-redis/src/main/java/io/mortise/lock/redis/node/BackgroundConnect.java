// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisURI;
import io.mortise.lock.redis.connect.ConnectWithTlsCheck;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects to a server in the background and retries until the server responds. From then on Lettuce reconnects by itself. The
 * listener is notified of each new connection and of each failure. Thread-safe.
 */
public final class BackgroundConnect {
    private static final Logger log = LoggerFactory.getLogger(BackgroundConnect.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Supplier<RedisNodeClient> factory;
    private final String channel;
    private final BackendContext context;
    private volatile RedisNodeClient node;
    private volatile @Nullable Throwable failure;

    @GuardedBy("this")
    private Duration pause = SHORTEST_PAUSE;

    @GuardedBy("this")
    private boolean closed;

    /**
     * Creates it without connecting; call {@link #start} next.
     *
     * @param target the server; its {@code connect} may block, and is called once for each try
     * @param channel the channel to subscribe to on each connection
     * @param requestTimeout the timeout of each request
     * @param server the server's URI, if it is known
     * @param listener the listener that is notified of connections, messages and failures
     */
    @SuppressWarnings("this-escape") // the listener is not called before a node is started
    public BackgroundConnect(
            RedisNodeClient.Target target,
            String channel,
            BackendContext context,
            Duration requestTimeout,
            Optional<RedisURI> server,
            NodeListener listener) {
        this.channel = channel;
        this.context = context;
        RedisNodeClient.Target inBackground = new RedisNodeClient.Target(
                target.id(),
                target.endpoints(),
                () -> ConnectWithTlsCheck.begin(
                        target.connect(),
                        opened -> opened.closeAsync(),
                        server.stream().toList(),
                        context),
                target.moves());
        NodeListener retrying = new Retrying(listener);
        this.factory = () -> new RedisNodeClient(inBackground, context, requestTimeout, 0, retrying);
        this.node = factory.get();
    }

    /** Starts the first try. Does not block. */
    public void start() {
        node.start(channel);
    }

    /** Returns the client of the current try; another one replaces it if its connection cannot be opened. */
    public RedisNodeClient node() {
        return node;
    }

    /**
     * Returns why the last try failed, see {@link io.mortise.lock.redis.connect.InitialConnection#explained}; empty before the
     * first failure and after a success.
     */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    private void failed(Throwable cause) {
        Duration untilRetry;
        synchronized (this) {
            if (closed) {
                return;
            }
            untilRetry = pause;
            Duration longer = pause.multipliedBy(3).dividedBy(2);
            pause = Durations.shorter(longer, LONGEST_PAUSE);
        }
        if (failure == null) { // logged once, not at every retry
            log.info("event=not-opened endpoints={} cause=\"{}\"", node.endpoints(), cause.toString());
        }
        failure = cause;
        context.clock().schedule(untilRetry, this::retry);
    }

    private void retry() {
        RedisNodeClient next = factory.get();
        synchronized (this) {
            if (closed) {
                return;
            }
            node = next;
        }
        next.start(channel);
    }

    /** Announces that the client is about to be closed: failures from now on are expected. */
    public void announceClose() {
        synchronized (this) {
            closed = true;
        }
        node.announceClose();
    }

    /** Stops retrying and closes the connection; its pending requests fail. */
    public CompletableFuture<Void> close() {
        announceClose();
        return node.close();
    }

    private final class Retrying implements NodeListener {
        private final NodeListener listener;

        Retrying(NodeListener listener) {
            this.listener = listener;
        }

        @Override
        public void onMessage(RedisNodeClient from, String text) {
            listener.onMessage(from, text);
        }

        @Override
        public void onSubscribed(RedisNodeClient at) {
            listener.onSubscribed(at);
        }

        @Override
        public void onOpened(RedisNodeClient at) {
            if (failure != null) {
                failure = null;
                log.info("event=opened endpoints={}", at.endpoints());
            }
            listener.onOpened(at);
        }

        @Override
        public void onFailure(RedisNodeClient at, Throwable cause) {
            if (!at.isUsable()) {
                failed(cause);
            }
            listener.onFailure(at, cause);
        }
    }
}
