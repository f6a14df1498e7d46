// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/** Adapter for one of ShedLock's lock providers. */
final class ShedLockPeer implements Peer {
    /** The providers and their configurations. */
    enum Kind {
        REDIS("shedlock-redis", "ShedLock RedisLockProvider", StoreKind.REDIS),
        REDIS_SAFE("shedlock-redis-safe", "ShedLock RedisLockProvider", StoreKind.REDIS),
        JDBC("shedlock-jdbc", "ShedLock JdbcTemplateLockProvider", StoreKind.H2),
        JDBC_SERVER_TIME("shedlock-jdbc-server-time", "ShedLock JdbcTemplateLockProvider", StoreKind.H2);

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

    ShedLockPeer(Kind kind) {
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
        return "ShedLock " + LibraryVersions.of("shedlock") + ", "
                + (kind.store == StoreKind.H2
                        ? "H2 " + LibraryVersions.of("h2")
                        : "Lettuce " + LibraryVersions.of("lettuce-core"));
    }

    @Override
    public String configuration() {
        String common = "lockAtMostFor " + lease().toSeconds() + " s, lockAtLeastFor 0; ";
        return common
                + switch (kind) {
                    case REDIS, JDBC -> "otherwise the defaults";
                    case REDIS_SAFE -> "safeUpdate(true)";
                    case JDBC_SERVER_TIME -> "usingDbTime()";
                };
    }

    @Override
    public StoreKind store() {
        return kind.store;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.of(Capability.CRASH_RELEASE);
    }

    /** Renewal exists as {@code KeepAliveLockProvider}, from 30 s on. */
    @Override
    public Set<Claim> claims() {
        return EnumSet.noneOf(Claim.class);
    }

    /** The locks are not renewed, so no test may hold one for longer. */
    @Override
    public Duration lease() {
        return Duration.ofSeconds(10);
    }

    @Override
    public boolean ownedByThread() {
        return false;
    }

    @Override
    public String entry(String namespace, String lockName) {
        return kind.store == StoreKind.H2
                ? "SHEDLOCK.NAME=" + namespace + lockName
                : "job-lock:" + namespace + ":" + lockName;
    }

    @Override
    public PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) {
        if (kind.store == StoreKind.H2) {
            JdbcConnectionPool source = JdbcConnectionPool.create(H2PeerTestServer.url(addresses.get(0)), "", "");
            JdbcTemplate template = new JdbcTemplate(source);
            JdbcTemplateLockProvider.Configuration.Builder configuration =
                    JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(template);
            // The default is the host's name; each client here stands for another host.
            configuration.withLockedByValue(UUID.randomUUID().toString());
            if (kind == Kind.JDBC_SERVER_TIME) {
                configuration.usingDbTime();
            }
            return new Provider(
                    new JdbcTemplateLockProvider(configuration.build()), lease(), namespace, source::dispose);
        }
        LettuceConnectionFactory connections = SpringPeer.redisConnections(addresses.get(0), options);
        LockProvider provider = new RedisLockProvider.Builder(connections)
                .environment(namespace)
                .safeUpdate(kind == Kind.REDIS_SAFE)
                .build();
        return new Provider(provider, lease(), "", connections::destroy);
    }

    private record Provider(LockProvider provider, Duration lease, String prefix, Runnable ending)
            implements PeerLibraryClient {
        @Override
        public Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) {
            Optional<SimpleLock> lock =
                    provider.lock(new LockConfiguration(Instant.now(), prefix + name, lease, Duration.ZERO));
            if (lock.isEmpty() && !maxWait.equals(Optional.of(Duration.ZERO))) {
                throw UnclaimedGuaranteeAbort.abort(Claim.WAITING);
            }
            return lock.map(held -> () -> {
                held.unlock();
                return true;
            });
        }

        @Override
        public void close() {
            ending.run();
        }
    }
}
