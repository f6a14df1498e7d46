// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;

/**
 * Puts the application's own etcd writes under a lease: {@code lease.unwrap(EtcdFencingCondition.class)}, or {@link EtcdLocks#guard}.
 * Thread-safe.
 *
 * <pre>{@code
 * EtcdFencingCondition guard = EtcdLocks.guard(lease);
 * TxnResponse done = client.getKVClient().txn()
 *         .If(guard.held())
 *         .Then(Op.put(key, value, PutOption.DEFAULT))
 *         .commit().get();
 * boolean written = done.isSucceeded();
 * }</pre>
 *
 * The server carries out all of it or nothing, so a holder whose lease has ended writes nothing, however late it finds out
 * (S3). The transaction goes to the same cluster, by a client with the same jetcd namespace: none, unless the application lent
 * Mortise a client that has one.
 */
public interface EtcdFencingCondition {
    /** True in the store exactly as long as the grant is there; no other grant ever makes it true. */
    Cmp held();

    /** The key that is the grant. */
    ByteSequence key();

    /** The revision that created it: the fencing token. */
    long revision();
}
