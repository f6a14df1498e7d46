// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisURI;
import io.mortise.lock.redis.connect.ConnectAttempt;
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
 * Opens the connection to a server in the background, again and again until it answers. From then on Lettuce reconnects. The
 * listener is told of each new connection, and of each failure. Thread-safe.
 */
public final class BackgroundConnect {
    private static final Logger log = LoggerFactory.getLogger(BackgroundConnect.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Supplier<RedisNodeClient> fresh;
    private final String channel;
    private final BackendContext context;
    private volatile RedisNodeClient node;
    private volatile @Nullable Throwable failure;

    @GuardedBy("this")
    private Duration pause = SHORTEST_PAUSE;

    @GuardedBy("this")
    private boolean closed;

    /**
     * It is to be started.
     *
     * @param target whose {@code connect} may block, and is called once for each try
     * @param channel to listen to from the start
     * @param requestTimeout for each request
     * @param server that is connected to, if it is known
     */
    @SuppressWarnings("this-escape") // told only once a node is started
    public BackgroundConnect(
            RedisNodeClient.Target target,
            String channel,
            BackendContext context,
            Duration requestTimeout,
            Optional<RedisURI> server,
            NodeListener listener) {
        this.channel = channel;
        this.context = context;
        RedisNodeClient.Target apart = new RedisNodeClient.Target(
                target.id(),
                target.endpoints(),
                () -> ConnectAttempt.begin(
                        target.connect(),
                        made -> made.closeAsync(),
                        server.stream().toList(),
                        context),
                target.moves());
        NodeListener retrying = new Retrying(listener);
        this.fresh = () -> new RedisNodeClient(apart, context, requestTimeout, 0, retrying);
        this.node = fresh.get();
    }

    /** The first try. Does not block. */
    public void start() {
        node.start(channel);
    }

    /** The present one, which another follows if it is not usable. */
    public RedisNodeClient node() {
        return node;
    }

    /** Why the last try failed, see {@link io.mortise.lock.redis.connect.InitialConnection#explained}; empty before its end, and once one has not. */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    private void failed(Throwable cause) {
        Duration rest;
        synchronized (this) {
            if (closed) {
                return;
            }
            rest = pause;
            Duration longer = pause.multipliedBy(3).dividedBy(2);
            pause = Durations.shorter(longer, LONGEST_PAUSE);
        }
        if (failure == null) { // once is enough
            log.info("event=not-opened endpoints={} cause=\"{}\"", node.endpoints(), cause.toString());
        }
        failure = cause;
        context.clock().schedule(rest, this::again);
    }

    private void again() {
        RedisNodeClient next = fresh.get();
        synchronized (this) {
            if (closed) {
                return;
            }
            node = next;
        }
        next.start(channel);
    }

    /** What fails from now on is no trouble. */
    public void closing() {
        synchronized (this) {
            closed = true;
        }
        node.closing();
    }

    /** No further try; ends the connection, and what is under way on it fails. */
    public CompletableFuture<Void> close() {
        closing();
        return node.close();
    }

    private final class Retrying implements NodeListener {
        private final NodeListener listener;

        Retrying(NodeListener listener) {
            this.listener = listener;
        }

        @Override
        public void message(RedisNodeClient from, String text) {
            listener.message(from, text);
        }

        @Override
        public void listening(RedisNodeClient at) {
            listener.listening(at);
        }

        @Override
        public void opened(RedisNodeClient at) {
            if (failure != null) {
                failure = null;
                log.info("event=opened endpoints={}", at.endpoints());
            }
            listener.opened(at);
        }

        @Override
        public void trouble(RedisNodeClient at, Throwable cause) {
            if (!at.isUsable()) {
                failed(cause);
            }
            listener.trouble(at, cause);
        }
    }
}
