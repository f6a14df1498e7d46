// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;

/** See {@link EtcdGuard}. */
record LeaseGuard(ByteSequence key, long revision) implements EtcdGuard {
    @Override
    public Cmp held() {
        return Requests.isFrom(key, revision);
    }
}
