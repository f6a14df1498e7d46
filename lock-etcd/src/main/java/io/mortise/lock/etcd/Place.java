// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.ByteSequence;

/**
 * Where a contender stands.
 *
 * @param since the revision that created its key, zero while there is none that we know of
 */
record Place(EtcdSession on, LockLine line, int slot, ByteSequence key, long since) {
    /** Without a key yet. */
    static Place in(EtcdSession on, LockLine line, int slot) {
        return new Place(on, line, slot, EtcdKeys.contender(line.contenders(), on.lease(), slot, on.keySeries()), 0);
    }

    Place since(long revision) {
        return new Place(on, line, slot, key, revision);
    }

    Place inSlot(int other) {
        return in(on, line, other);
    }
}
