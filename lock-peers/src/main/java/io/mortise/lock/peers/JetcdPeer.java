// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lock.LockResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Adapter for jetcd's {@code Lock}, which uses etcd's lock service, with a lease of its own for each lock. */
final class JetcdPeer implements Peer {
    /** There is no attempt that does not wait; this is long enough for a reply that grants a free lock. */
    private static final long SHORTEST_WAIT_MILLIS = 1000;

    @Override
    public String id() {
        return "jetcd-lock";
    }

    @Override
    public String title() {
        return "jetcd Lock";
    }

    @Override
    public String version() {
        return "jetcd " + LibraryVersions.of("jetcd-core") + ", etcd's lock service";
    }

    @Override
    public String configuration() {
        return "the defaults; each lock has its own lease of " + lease().toSeconds()
                + " s, kept alive by Lease.keepAlive, whose observer reports the loss; an attempt without a wait is one of "
                + SHORTEST_WAIT_MILLIS + " ms";
    }

    @Override
    public StoreKind store() {
        return StoreKind.ETCD;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.of(Capability.PUSH, Capability.CRASH_RELEASE);
    }

    @Override
    public Set<Claim> claims() {
        return EnumSet.of(Claim.WAITING, Claim.RENEWAL, Claim.LOSS_NOTIFICATION);
    }

    @Override
    public boolean ownedByThread() {
        return false;
    }

    @Override
    public String entry(String namespace, String lockName) {
        return namespace + lockName + "/";
    }

    @Override
    public PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) {
        Client client = Client.builder().endpoints("http://" + addresses.get(0)).build();
        Set<Long> current = ConcurrentHashMap.newKeySet();
        return new PeerLibraryClient() {
            @Override
            public Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) throws Exception {
                return JetcdPeer.this.acquire(client, namespace + name, maxWait, options.requestTimeout(), current);
            }

            @Override
            public Set<Long> leases() {
                return Set.copyOf(current);
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private Optional<PeerGrant> acquire(
            Client client, String name, Optional<Duration> maxWait, Duration requestTimeout, Set<Long> current)
            throws Exception {
        Lease leases = client.getLeaseClient();
        long limit =
                maxWait.map(Duration::toMillis).filter(millis -> millis > 0).orElse(SHORTEST_WAIT_MILLIS);
        long lease = get(leases.grant(lease().toSeconds()), Math.max(limit, requestTimeout.toMillis()))
                .getID();
        current.add(lease);
        KeepAlive keepAlive = new KeepAlive(leases, lease);
        CompletableFuture<LockResponse> locking = client.getLockClient().lock(bytes(name), lease);
        try {
            LockResponse granted = maxWait.isEmpty() ? locking.get() : locking.get(limit, TimeUnit.MILLISECONDS);
            return Optional.of(new Grant(
                    client.getLockClient(), granted.getKey(), leases, lease, keepAlive, current, requestTimeout));
        } catch (TimeoutException | InterruptedException | ExecutionException e) {
            locking.cancel(true);
            current.remove(lease);
            keepAlive.close();
            leases.revoke(lease); // removes the waiter, which cancelling alone does not
            if (e instanceof TimeoutException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Applications bound each of jetcd's futures themselves. */
    private static <T> T get(CompletableFuture<T> future, long millis) throws Exception {
        try {
            return future.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("no reply within " + millis + " ms", e);
        }
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /** Keeps a lease alive, and reports its end. */
    private static final class KeepAlive implements StreamObserver<LeaseKeepAliveResponse> {
        private final List<Runnable> callbacks = new CopyOnWriteArrayList<>();
        private final CloseableClient stream;
        private volatile boolean ended;

        KeepAlive(Lease leases, long lease) {
            stream = leases.keepAlive(lease, this);
        }

        void onEnd(Runnable callback) {
            callbacks.add(callback);
            if (ended) {
                callback.run();
            }
        }

        @Override
        public void onNext(LeaseKeepAliveResponse value) {}

        @Override
        public void onError(Throwable failure) {
            end();
        }

        @Override
        public void onCompleted() {
            end();
        }

        private void end() {
            ended = true;
            callbacks.forEach(Runnable::run);
        }

        void close() {
            stream.close();
        }
    }

    private record Grant(
            Lock locks,
            ByteSequence key,
            Lease leases,
            long lease,
            KeepAlive keepAlive,
            Set<Long> current,
            Duration requestTimeout)
            implements PeerGrant {
        @Override
        public void onLoss(Runnable callback) {
            keepAlive.onEnd(callback);
        }

        @Override
        public boolean release() throws Exception {
            current.remove(lease);
            keepAlive.close();
            get(locks.unlock(key), requestTimeout.toMillis());
            leases.revoke(lease);
            return true;
        }
    }
}
