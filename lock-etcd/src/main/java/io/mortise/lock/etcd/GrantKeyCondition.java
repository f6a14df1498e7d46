// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import java.util.Optional;

/** An {@link EtcdFencingCondition} that holds while the grant's key still has its original create revision. */
record GrantKeyCondition(ByteSequence key, long revision) implements EtcdFencingCondition {
    /** Implements {@link io.mortise.lock.Lease#unwrap} for the lease that is represented by this key. */
    static <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision) {
        return type == EtcdFencingCondition.class
                ? Optional.of(type.cast(new GrantKeyCondition(key, revision)))
                : Optional.empty();
    }

    @Override
    public Cmp held() {
        return EtcdTransactionParts.hasCreateRevision(key, revision);
    }
}
