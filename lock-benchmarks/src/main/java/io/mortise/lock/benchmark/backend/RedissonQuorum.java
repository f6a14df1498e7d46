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
 * Competitor on Redlock: Redisson's {@code RedissonRedLock}. Its clients, one for each master, share their threads, and have a
 * connection for each thread that a scenario has: else several of them would start thousands of threads and connections.
 */
final class RedissonQuorum implements Competitor {
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
                return new RedissonLock.Granted(granted);
            }

            @Override
            public void close() {
                clients.forEach(client -> client.shutdown(0, 2, TimeUnit.SECONDS));
                executor.shutdown();
                events.shutdownGracefully(0, 2, TimeUnit.SECONDS);
            }
        };
    }

    @SuppressWarnings("deprecation") // nothing took its place
    private static RLock quorumOf(RLock[] locks) {
        return new RedissonRedLock(locks);
    }
}
