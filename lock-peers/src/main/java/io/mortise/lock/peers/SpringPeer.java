// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.util.UUIDConverter;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Adapter for one of Spring Integration's lock registries. */
final class SpringPeer implements Peer {
    /** The registries that Spring Integration offers, with their configurations. */
    enum Kind {
        REDIS("spring-redis", "Spring Integration RedisLockRegistry", StoreKind.REDIS),
        REDIS_RENEWED("spring-redis-renewed", "Spring Integration RedisLockRegistry", StoreKind.REDIS),
        JDBC("spring-jdbc", "Spring Integration JdbcLockRegistry", StoreKind.H2),
        ZOOKEEPER("spring-zookeeper", "Spring Integration ZookeeperLockRegistry", StoreKind.ZOOKEEPER);

        private final String id;
        private final String title;
        private final StoreKind store;

        Kind(String id, String title, StoreKind store) {
            this.id = id;
            this.title = title;
            this.store = store;
        }
    }

    private final Kind kind;

    SpringPeer(Kind kind) {
        this.kind = kind;
    }

    @Override
    public String id() {
        return kind.id;
    }

    @Override
    public String title() {
        return kind.title;
    }

    @Override
    public String version() {
        return switch (kind) {
            case REDIS, REDIS_RENEWED ->
                "Spring Integration " + LibraryVersions.of("spring-integration") + ", Lettuce "
                        + LibraryVersions.of("lettuce-core");
            case JDBC ->
                "Spring Integration " + LibraryVersions.of("spring-integration") + ", H2 " + LibraryVersions.of("h2");
            case ZOOKEEPER ->
                "Spring Integration ZooKeeper " + LibraryVersions.of("spring-integration-zookeeper") + ", Curator "
                        + LibraryVersions.of("curator-recipes");
        };
    }

    @Override
    public String configuration() {
        return switch (kind) {
            case REDIS ->
                "expireAfter " + lease().toSeconds()
                        + " s instead of 60 s, otherwise the defaults (SPIN_LOCK, no renewal)";
            case REDIS_RENEWED ->
                "expireAfter " + lease().toSeconds() + " s, PUB_SUB_LOCK, and a renewal task scheduler";
            case JDBC ->
                "the defaults, with a time to live of " + lease().toSeconds()
                        + " s; the application renews; the driver's network timeout is 2 s";
            case ZOOKEEPER ->
                "the defaults, on a Curator client with ExponentialBackoffRetry(1000, 3) and a session of "
                        + lease().toSeconds() + " s";
        };
    }

    @Override
    public StoreKind store() {
        return kind.store;
    }

    @Override
    public Set<Capability> capabilities() {
        return switch (kind) {
            case REDIS, JDBC -> EnumSet.of(Capability.CRASH_RELEASE);
            case REDIS_RENEWED, ZOOKEEPER -> EnumSet.of(Capability.PUSH, Capability.CRASH_RELEASE);
        };
    }

    @Override
    public Set<Claim> claims() {
        return switch (kind) {
            case REDIS, JDBC -> EnumSet.of(Claim.WAITING, Claim.RELEASE_RESULT);
            case REDIS_RENEWED -> EnumSet.of(Claim.WAITING, Claim.RELEASE_RESULT, Claim.RENEWAL);
            case ZOOKEEPER -> EnumSet.of(Claim.WAITING, Claim.RENEWAL);
        };
    }

    @Override
    public Duration lease() {
        return switch (kind) {
            case ZOOKEEPER -> CuratorPeer.SESSION;
            case REDIS_RENEWED -> Duration.ofSeconds(6);
            case REDIS, JDBC -> Duration.ofSeconds(10); // not renewed: no test may hold a lock for longer
        };
    }

    @Override
    public String entry(String namespace, String lockName) {
        return switch (kind) {
            case REDIS, REDIS_RENEWED -> namespace + ":" + lockName;
            case JDBC -> "INT_LOCK.LOCK_KEY=" + UUIDConverter.getUUID(namespace + lockName);
            case ZOOKEEPER -> "/" + namespace + "/" + lockName;
        };
    }

    @Override
    public PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) throws Exception {
        return switch (kind) {
            case REDIS, REDIS_RENEWED -> redis(addresses.get(0), namespace, options);
            case JDBC -> jdbc(addresses.get(0), namespace);
            case ZOOKEEPER -> zooKeeper(addresses, namespace, options);
        };
    }

    private PeerLibraryClient redis(String address, String namespace, ClientOptions options) {
        LettuceConnectionFactory connections = redisConnections(address, options);
        RedisLockRegistry registry = new RedisLockRegistry(connections, namespace, lease());
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        if (kind == Kind.REDIS_RENEWED) {
            scheduler.initialize();
            registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
            registry.setRenewalTaskScheduler(scheduler);
        }
        return new Registry(registry, "", () -> {
            registry.destroy();
            scheduler.shutdown();
            connections.destroy();
        });
    }

    /** Opens connections that fail while disconnected, instead of queueing requests for up to a minute. */
    static LettuceConnectionFactory redisConnections(String address, ClientOptions options) {
        String[] hostAndPort = address.split(":", 2);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(hostAndPort[0], Integer.parseInt(hostAndPort[1])),
                LettuceClientConfiguration.builder()
                        .commandTimeout(options.requestTimeout())
                        .clientOptions(io.lettuce.core.ClientOptions.builder()
                                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                                .build())
                        .build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    private PeerLibraryClient jdbc(String address, String namespace) {
        JdbcConnectionPool source = JdbcConnectionPool.create(H2PeerTestServer.url(address), "", "");
        DefaultLockRepository repository = new DefaultLockRepository(source);
        repository.setTransactionManager(new DataSourceTransactionManager(source));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        return new Registry(new JdbcLockRegistry(repository, lease()), namespace, () -> {
            repository.close();
            source.dispose();
        });
    }

    private static PeerLibraryClient zooKeeper(List<String> addresses, String namespace, ClientOptions options)
            throws InterruptedException {
        CuratorFramework client = CuratorPeer.open(addresses, options);
        ZookeeperLockRegistry registry = new ZookeeperLockRegistry(client, "/" + namespace);
        return new Registry(registry, "", () -> {
            registry.destroy();
            client.close();
        });
    }

    private record Registry(LockRegistry<?> registry, String prefix, Runnable ending) implements PeerLibraryClient {
        @Override
        public Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) throws InterruptedException {
            Lock lock = registry.obtain(prefix + name);
            if (maxWait.isEmpty()) {
                lock.lockInterruptibly();
            } else if (!(maxWait.get().isZero()
                    ? lock.tryLock()
                    : lock.tryLock(maxWait.get().toMillis(), TimeUnit.MILLISECONDS))) {
                return Optional.empty();
            }
            return Optional.of(() -> release(lock));
        }

        private static boolean release(Lock lock) {
            try {
                lock.unlock();
                return true;
            } catch (ConcurrentModificationException e) {
                return false;
            }
        }

        @Override
        public void close() {
            ending.run();
        }
    }
}
