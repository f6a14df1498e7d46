// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.OptionalLong;

/**
 * A lock granted by another library. If that library binds locks to threads, only the thread that acquired the lock may use
 * this object.
 */
interface PeerGrant {
    /** Returns whether the peer reports that the lock is still held. Called only with {@link Claim#HELD_CHECK}. */
    default boolean isHeld() throws Exception {
        throw new UnsupportedOperationException();
    }

    /** Returns the fencing token; empty if the peer has none. */
    default OptionalLong token() {
        return OptionalLong.empty();
    }

    /** Registers a callback for the loss of the lock. Called only with {@link Claim#LOSS_NOTIFICATION}. */
    default void onLoss(Runnable callback) {
        throw new UnsupportedOperationException();
    }

    /**
     * Releases the lock.
     *
     * @return false if the peer reports that the lock was no longer held; true otherwise
     */
    boolean release() throws Exception;
}
