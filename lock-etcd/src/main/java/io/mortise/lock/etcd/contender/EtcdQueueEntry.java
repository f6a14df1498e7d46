// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.SessionLockQueue;
import io.mortise.lock.etcd.session.EtcdSession;

/**
 * A contender's entry in a lock's queue, with the key that represents it in the store.
 *
 * @param session the session of the contender
 * @param queue the lock's queue as seen by the session
 * @param slot the slot in the queue, which determines the key
 * @param key the name of the contender's key
 * @param createRevision the revision that created the key; zero while no key is known to exist
 */
record EtcdQueueEntry(EtcdSession session, SessionLockQueue queue, int slot, ByteSequence key, long createRevision) {
    /** Creates an entry whose key is not in the store yet. */
    static EtcdQueueEntry withoutKey(EtcdSession session, SessionLockQueue queue, int slot) {
        return new EtcdQueueEntry(
                session,
                queue,
                slot,
                EtcdKeyLayout.contenderKey(queue.contenderPrefix(), session.leaseId(), slot, session.keySeries()),
                0);
    }

    EtcdQueueEntry withCreateRevision(long revision) {
        return new EtcdQueueEntry(session, queue, slot, key, revision);
    }

    EtcdQueueEntry withSlot(int other) {
        return withoutKey(session, queue, other);
    }
}
