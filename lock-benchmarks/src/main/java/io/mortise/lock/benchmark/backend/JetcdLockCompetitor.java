// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lock.UnlockResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Benchmark competitor that locks with etcd's server-side lock service through jetcd. */
final class JetcdLockCompetitor implements Competitor {
    static final String NAME = "jetcd";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "jetcd " + LibraryVersions.of("jetcd-core") + " Lock, one lease per thread, kept alive";
    }

    @Override
    public CompetitorSession open(String endpoint) {
        Client client = EtcdTestBed.connect(endpoint);
        Lock locks = client.getLockClient();
        ThreadLocal<Long> lease = ThreadLocal.withInitial(() -> leaseOf(client));
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) throws Exception {
                return new Key(
                        locks,
                        locks.lock(EtcdTestBed.bytes("jetcd/" + lock), lease.get())
                                .get()
                                .getKey());
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private static long leaseOf(Client client) {
        long lease = client.getLeaseClient()
                .grant(EtcdTestBed.LEASE.toSeconds())
                .join()
                .getID();
        CloseableClient unused = client.getLeaseClient().keepAlive(lease, new Ignored());
        return lease;
    }

    private record Key(Lock locks, ByteSequence key) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() throws Exception {
            locks.unlock(key).get();
        }

        @Override
        public void releaseAsync() {
            CompletableFuture<UnlockResponse> unused = locks.unlock(key);
        }
    }

    private static final class Ignored implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse value) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
