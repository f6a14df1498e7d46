// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;

/** Implementation of {@link EtcdGuard}. */
record EtcdTransactionGuard(ByteSequence key, long revision) implements EtcdGuard {
    @Override
    public Cmp held() {
        return TransactionParts.isFrom(key, revision);
    }
}
