// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Adapter for Curator's {@code InterProcessMutex} or {@code InterProcessSemaphoreMutex}, with or without the connection-state
 * listener that Curator recommends.
 */
final class CuratorPeer implements Peer {
    /** Shorter sessions end on a loaded machine. */
    static final Duration SESSION = Duration.ofSeconds(6);

    private final boolean semaphore;
    private final boolean listening;

    CuratorPeer(boolean semaphore, boolean listening) {
        this.semaphore = semaphore;
        this.listening = listening;
    }

    @Override
    public String id() {
        return "curator-" + (semaphore ? "semaphore-mutex" : "mutex") + (listening ? "-listener" : "");
    }

    @Override
    public String title() {
        return "Curator " + (semaphore ? "InterProcessSemaphoreMutex" : "InterProcessMutex");
    }

    @Override
    public String version() {
        return "Curator " + LibraryVersions.of("curator-recipes") + ", ZooKeeper " + LibraryVersions.of("zookeeper");
    }

    @Override
    public String configuration() {
        return "ExponentialBackoffRetry(1000, 3) as in Curator's guide, a session of " + SESSION.toSeconds() + " s"
                + (listening
                        ? "; a ConnectionStateListener ends the lease at SUSPENDED or LOST, as the Javadoc recommends"
                        : "; no ConnectionStateListener");
    }

    @Override
    public StoreKind store() {
        return StoreKind.ZOOKEEPER;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.of(Capability.FAIR, Capability.PUSH, Capability.CRASH_RELEASE);
    }

    @Override
    public Set<Claim> claims() {
        Set<Claim> claims = EnumSet.of(Claim.WAITING, Claim.RENEWAL);
        if (listening) {
            claims.add(Claim.LOSS_NOTIFICATION);
        }
        return claims;
    }

    @Override
    public boolean ownedByThread() {
        return !semaphore;
    }

    @Override
    public Duration lease() {
        return SESSION;
    }

    @Override
    public String entry(String namespace, String lockName) {
        return path(namespace, lockName) + (semaphore ? "/leases" : "");
    }

    private static String path(String namespace, String lockName) {
        return "/" + namespace + "/" + lockName;
    }

    @Override
    public PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) throws Exception {
        CuratorFramework client = open(addresses, options);
        return new PeerLibraryClient() {
            @Override
            public Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) throws Exception {
                String path = path(namespace, name);
                InterProcessLock lock =
                        semaphore ? new InterProcessSemaphoreMutex(client, path) : new InterProcessMutex(client, path);
                if (maxWait.isEmpty()) {
                    lock.acquire();
                } else if (!lock.acquire(maxWait.get().toMillis(), TimeUnit.MILLISECONDS)) {
                    return Optional.empty();
                }
                return Optional.of(new Grant(client, lock, listening));
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    static CuratorFramework open(List<String> addresses, ClientOptions options) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(addresses.get(0))
                .sessionTimeoutMs(Math.toIntExact(SESSION.toMillis()))
                .connectionTimeoutMs(Math.toIntExact(options.requestTimeout().toMillis()))
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        if (!client.blockUntilConnected(Math.toIntExact(options.connectTimeout().toMillis()), TimeUnit.MILLISECONDS)) {
            client.close();
            throw new IllegalStateException("no connection within " + options.connectTimeout());
        }
        return client;
    }

    /** A mutex that is held. Its listener is registered after the grant, and then looks at the state once. */
    private static final class Grant implements PeerGrant, ConnectionStateListener {
        private final CuratorFramework client;
        private final InterProcessLock lock;
        private final List<Runnable> callbacks = new CopyOnWriteArrayList<>();

        Grant(CuratorFramework client, InterProcessLock lock, boolean listening) {
            this.client = client;
            this.lock = lock;
            if (listening) {
                client.getConnectionStateListenable().addListener(this);
            }
        }

        @Override
        public void stateChanged(CuratorFramework of, ConnectionState state) {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                callbacks.forEach(Runnable::run);
            }
        }

        @Override
        public void onLoss(Runnable callback) {
            callbacks.add(callback);
            if (!client.getZookeeperClient().isConnected()) {
                callback.run();
            }
        }

        @Override
        public boolean release() throws Exception {
            client.getConnectionStateListenable().removeListener(this);
            lock.release();
            return true;
        }
    }
}
