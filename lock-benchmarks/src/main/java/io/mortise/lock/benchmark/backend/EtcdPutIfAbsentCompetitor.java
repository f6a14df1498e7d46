// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.kv.DeleteResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Benchmark competitor that locks with a put-if-absent transaction and unlocks with a delete, through plain jetcd. It neither
 * renews its lease nor handles failures; a client that finds the lock taken retries a millisecond later.
 */
final class EtcdPutIfAbsentCompetitor implements Competitor {
    static final String NAME = "raw";

    private static final long PAUSE_NANOS = 1_000_000;

    /** Lease duration without renewal; longer than any run of a scenario. */
    private static final long LEASE_SECONDS = 600;

    private static final long REVOKE_SECONDS = 10;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "jetcd " + LibraryVersions.of("jetcd-core")
                + ": a put-if-absent Txn and a delete; retries every millisecond";
    }

    @Override
    public boolean polls() {
        return true;
    }

    @Override
    public CompetitorSession open(String endpoint) throws Exception {
        Client client = EtcdTestBed.connect(endpoint);
        KV requests = client.getKVClient();
        long lease = client.getLeaseClient().grant(LEASE_SECONDS).get().getID();
        PutOption withLease = PutOption.builder().withLeaseId(lease).build();
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) throws Exception {
                ByteSequence key = EtcdTestBed.bytes("raw/" + lock);
                Cmp isAbsent = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
                Op put = Op.put(key, EtcdTestBed.VALUE, withLease);
                while (!requests.txn().If(isAbsent).Then(put).commit().get().isSucceeded()) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                return new Key(requests, key);
            }

            /** Revokes the lease, because a release that was not awaited may not have been sent. */
            @Override
            public void close() throws Exception {
                client.getLeaseClient().revoke(lease).get(REVOKE_SECONDS, TimeUnit.SECONDS);
                client.close();
            }
        };
    }

    private record Key(KV requests, ByteSequence key) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() throws Exception {
            if (requests.delete(key).get().getDeleted() != 1) {
                throw new IllegalStateException("the lease on " + key + " had ended");
            }
        }

        @Override
        public void releaseAsync() {
            CompletableFuture<DeleteResponse> unused = requests.delete(key);
        }
    }
}
