// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Benchmark competitor that locks with Redisson's {@code RedissonRedLock} on several Redis masters. Its clients, one per
 * master, share their threads and have one connection for each thread of a scenario; otherwise they would start thousands of
 * threads and connections.
 */
final class RedissonRedlockCompetitor implements Competitor {
    static final String NAME = "redisson";

    private static final int CONNECTIONS = 20;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Redisson " + LibraryVersions.of("redisson") + " RedissonRedLock, renewed by its watchdog";
    }

    @Override
    public CompetitorSession open(String endpoint) {
        EventLoopGroup events = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        ExecutorService executor = Executors.newFixedThreadPool(16);
        List<RedissonClient> clients = new ArrayList<>();
        for (String master : RedlockTestBed.masters(endpoint)) {
            Config config = new Config();
            config.setLockWatchdogTimeout(RedisTestBed.LEASE.toMillis());
            config.setEventLoopGroup(events).setExecutor(executor);
            config.useSingleServer()
                    .setAddress("redis://" + master)
                    .setConnectionMinimumIdleSize(CONNECTIONS)
                    .setConnectionPoolSize(CONNECTIONS);
            clients.add(Redisson.create(config));
        }
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) {
                RLock granted = quorumOf(clients.stream()
                        .map(client -> client.getLock("redisson:" + lock))
                        .toArray(RLock[]::new));
                granted.lock();
                return new RedissonCompetitor.Granted(granted);
            }

            @Override
            public void close() {
                clients.forEach(client -> client.shutdown(0, 2, TimeUnit.SECONDS));
                executor.shutdown();
                events.shutdownGracefully(0, 2, TimeUnit.SECONDS);
            }
        };
    }

    @SuppressWarnings("deprecation") // Redisson offers no replacement
    private static RLock quorumOf(RLock[] locks) {
        return new RedissonRedLock(locks);
    }
}
