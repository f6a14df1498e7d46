// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;

/**
 * The parameters of one attempt to acquire a lock: name, attempt id, owner record and lease duration. It is an interface so
 * that later versions can add methods, and so that values can be computed on demand.
 */
public interface LockRequest {
    /** Returns the name of the lock. */
    LockName name();

    /**
     * Returns the attempt id: 32 hexadecimal digits, new for each contender. It is the idempotency key of all requests of the
     * contender, and the {@linkplain io.mortise.lock.Lease#ownerId() owner id} of its grant.
     */
    String attemptId();

    /** Returns the text to store with the grant, verbatim. It starts with the attempt id; {@link OwnerRecordCodec} parses it. */
    String ownerRecord();

    /** Returns the lease duration, as {@link LockBackend#leaseDuration} rounded it. */
    Duration leaseDuration();

    /** Returns whether the contender may wait in the store's queue; if false, it makes one attempt only. */
    boolean mayWait();
}
