// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.LockQueue;
import io.mortise.lock.etcd.session.EtcdSession;

/**
 * Position of a contender in the queue.
 *
 * @param since the revision that created its key, zero while there is none that we know of
 */
record EtcdQueueEntry(EtcdSession on, LockQueue queue, int slot, ByteSequence key, long since) {
    /** Without a key yet. */
    static EtcdQueueEntry in(EtcdSession on, LockQueue queue, int slot) {
        return new EtcdQueueEntry(
                on, queue, slot, EtcdKeyLayout.contender(queue.contenders(), on.lease(), slot, on.keySeries()), 0);
    }

    EtcdQueueEntry since(long revision) {
        return new EtcdQueueEntry(on, queue, slot, key, revision);
    }

    EtcdQueueEntry inSlot(int other) {
        return in(on, queue, other);
    }
}
