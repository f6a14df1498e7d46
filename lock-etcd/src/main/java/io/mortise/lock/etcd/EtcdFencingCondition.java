// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;

/**
 * Makes an etcd transaction of the application succeed only while the lock's lease is held. Obtained by {@link
 * EtcdLocks#fencingCondition} or by {@code lease.unwrap(EtcdFencingCondition.class)}. Thread-safe.
 *
 * <pre>{@code
 * EtcdFencingCondition condition = EtcdLocks.fencingCondition(lease);
 * TxnResponse response = client.getKVClient().txn()
 *         .If(condition.held())
 *         .Then(Op.put(key, value, PutOption.DEFAULT))
 *         .commit().get();
 * boolean written = response.isSucceeded();
 * }</pre>
 *
 * <p>The server executes the whole transaction or none of it, so a holder whose lease has ended writes nothing, however late
 * it notices (S3). Send the transaction to the same cluster, through a client with the same jetcd namespace: none, unless
 * Mortise uses a client of the application that has one.
 */
public interface EtcdFencingCondition {
    /** Returns a comparison that is true only while the grant exists. No other grant ever makes it true. */
    Cmp held();

    /** Returns the key that represents the grant. */
    ByteSequence key();

    /** Returns the revision that created the key, which is the fencing token. */
    long revision();
}
