// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.EvictionCheck;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.OwnClient;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.Reopening;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The SPI over a majority of masters: tickets, and the hints for them. */
final class RedlockBackend implements LockBackend {
    private final RedlockOptions options;
    private final BackendContext context;
    private final RedlockKeys keys;
    private final Masters masters;
    private final Mailbox mailbox = new Mailbox();
    private final Renewals renewals;
    private final @Nullable OwnClient<RedisClient> own;

    private RedlockBackend(RedlockOptions options, BackendContext context) {
        this.options = options;
        this.context = context;
        this.keys = new RedlockKeys(options.prefix());
        this.masters = new Masters(new Quorum(options.size()), keys, context, options.maxLease());
        this.renewals = new Renewals(masters, context.clock());
        this.own = options.uris().isEmpty() ? null : OwnClient.toServers(options.sslOptions(), context);
    }
}
