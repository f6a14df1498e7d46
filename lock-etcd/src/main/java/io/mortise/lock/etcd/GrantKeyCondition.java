// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.mortise.lock.etcd.queue.TransactionParts;
import java.util.Optional;

/** Implementation of {@link EtcdFencingCondition}. */
record GrantKeyCondition(ByteSequence key, long revision) implements EtcdFencingCondition {
    /** Implements {@link io.mortise.lock.Lease#unwrap} for the lease that has this key. */
    static <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision) {
        return type == EtcdFencingCondition.class
                ? Optional.of(type.cast(new GrantKeyCondition(key, revision)))
                : Optional.empty();
    }

    @Override
    public Cmp held() {
        return TransactionParts.isFrom(key, revision);
    }
}
