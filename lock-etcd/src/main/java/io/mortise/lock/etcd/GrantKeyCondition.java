// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import java.util.Optional;

/** An {@link EtcdFencingCondition} that holds while the grant's key is as it was created: a delayed release writes it again. */
record GrantKeyCondition(ByteSequence key, long revision) implements EtcdFencingCondition {
    /** Implements {@link io.mortise.lock.Lease#unwrap} for the lease that is represented by this key. */
    static <T> Optional<T> unwrap(Class<T> type, ByteSequence key, long revision) {
        return type == EtcdFencingCondition.class
                ? Optional.of(type.cast(new GrantKeyCondition(key, revision)))
                : Optional.empty();
    }

    @Override
    public Cmp held() {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(revision));
    }
}
