// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.SingleServerConfig;

/** Adapter for one type of Redisson lock, whose leases are renewed by Redisson's watchdog. */
final class RedissonPeer implements Peer {
    /** The locks that Redisson offers. */
    enum Kind {
        LOCK("redisson-lock", "Redisson RLock"),
        FAIR("redisson-fair-lock", "Redisson fair lock"),
        FENCED("redisson-fenced-lock", "Redisson RFencedLock"),
        RED("redisson-red-lock", "Redisson RedissonRedLock");

        private final String id;
        private final String title;

        Kind(String id, String title) {
            this.id = id;
            this.title = title;
        }
    }

    private final Kind kind;
    private final boolean tuned;

    /** @param tuned whether Redisson's own timeouts follow the client's request timeout, instead of its defaults */
    RedissonPeer(Kind kind, boolean tuned) {
        this.kind = kind;
        this.tuned = tuned;
    }

    @Override
    public String id() {
        return kind.id + (tuned ? "-tuned" : "");
    }

    @Override
    public String title() {
        return kind.title;
    }

    @Override
    public String version() {
        return "Redisson " + LibraryVersions.of("redisson");
    }

    @Override
    public String configuration() {
        return "lockWatchdogTimeout " + lease().toSeconds() + " s instead of 30 s, "
                + (tuned
                        ? "timeout as the test's request timeout, 2 retries with 100 ms between them"
                        : "otherwise the defaults (timeout 3 s, 4 retries)")
                + (kind == Kind.RED ? "; three independent masters" : "");
    }

    @Override
    public StoreKind store() {
        return kind == Kind.RED ? StoreKind.REDIS_MASTERS : StoreKind.REDIS;
    }

    @Override
    public Set<Capability> capabilities() {
        Set<Capability> capabilities = EnumSet.of(Capability.CRASH_RELEASE);
        if (kind != Kind.RED) {
            capabilities.add(Capability.PUSH);
        }
        if (kind == Kind.FAIR) {
            capabilities.add(Capability.FAIR);
        }
        if (kind == Kind.FENCED) {
            capabilities.add(Capability.FENCING);
        }
        return capabilities;
    }

    /** A {@code RedissonRedLock} cannot be queried, and ignores failures of a release. */
    @Override
    public Set<Claim> claims() {
        Set<Claim> claims = EnumSet.of(Claim.WAITING, Claim.RENEWAL);
        if (kind != Kind.RED) {
            claims.add(Claim.HELD_CHECK);
            claims.add(Claim.RELEASE_RESULT);
        }
        return claims;
    }

    @Override
    public String entry(String namespace, String lockName) {
        return namespace + lockName;
    }

    @Override
    public PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) {
        List<RedissonClient> clients =
                addresses.stream().map(address -> open(address, options)).toList();
        return new PeerLibraryClient() {
            @Override
            public Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) throws Exception {
                RLock lock = lock(clients, namespace + name);
                if (lock instanceof RFencedLock fenced) {
                    return acquireFenced(fenced, maxWait);
                }
                if (maxWait.isEmpty()) {
                    lock.lockInterruptibly();
                } else if (!tryLock(lock, maxWait.get())) {
                    return Optional.empty();
                }
                return Optional.of(new Grant(lock, null));
            }

            @Override
            public void close() {
                clients.forEach(client -> client.shutdown(0, 2, TimeUnit.SECONDS));
            }
        };
    }

    private RedissonClient open(String address, ClientOptions options) {
        Config config = new Config();
        config.setLockWatchdogTimeout(lease().toMillis());
        SingleServerConfig server = config.useSingleServer().setAddress("redis://" + address);
        // Each test opens several clients; 24 connections each would only make the machine slow.
        server.setConnectionMinimumIdleSize(2);
        if (tuned) {
            server.setTimeout(Math.toIntExact(options.requestTimeout().toMillis()))
                    .setConnectTimeout(Math.toIntExact(options.requestTimeout().toMillis()))
                    .setRetryAttempts(2)
                    .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)));
        }
        return Redisson.create(config);
    }

    @SuppressWarnings("deprecation") // Redisson offers no replacement for RedissonRedLock.
    private RLock lock(List<RedissonClient> clients, String name) {
        RedissonClient first = clients.get(0);
        return switch (kind) {
            case LOCK -> first.getLock(name);
            case FAIR -> first.getFairLock(name);
            case FENCED -> first.getFencedLock(name);
            case RED ->
                new RedissonRedLock(
                        clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new));
        };
    }

    private static boolean tryLock(RLock lock, Duration maxWait) throws InterruptedException {
        return maxWait.isZero() ? lock.tryLock() : lock.tryLock(maxWait.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Acquires the lock, and reads the token separately where the methods that return it have defects: without a limit they
     * cannot be interrupted, and a try waits until the lock is free.
     */
    private static Optional<PeerGrant> acquireFenced(RFencedLock lock, Optional<Duration> maxWait)
            throws InterruptedException {
        if (maxWait.isEmpty()) {
            lock.lockInterruptibly();
            return Optional.of(new Grant(lock, lock.getToken()));
        }
        if (maxWait.get().isZero()) {
            return lock.tryLock() ? Optional.of(new Grant(lock, lock.getToken())) : Optional.empty();
        }
        return Optional.ofNullable(lock.tryLockAndGetToken(maxWait.get().toMillis(), TimeUnit.MILLISECONDS))
                .map(number -> new Grant(lock, number));
    }

    private record Grant(RLock lock, @Nullable Long number) implements PeerGrant {
        @Override
        public boolean isHeld() {
            return lock.isHeldByCurrentThread();
        }

        @Override
        public OptionalLong token() {
            return number == null ? OptionalLong.empty() : OptionalLong.of(number);
        }

        @Override
        public boolean release() {
            try {
                lock.unlock();
                return true;
            } catch (IllegalMonitorStateException e) {
                return false;
            }
        }
    }
}
