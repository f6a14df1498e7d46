// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;

/** Data of one attempt to acquire a lock. An interface, so that it can grow and be lazy. */
public interface LockRequest {
    /** The lock. */
    LockName name();

    /** 32 hexadecimal digits, new for each contender: the idempotency key of all that it sends, and the grant's owner id. */
    String attemptId();

    /** What to store beside the grant, verbatim: begins with the attempt id, {@link OwnerRecord} parses it. */
    String ownerRecord();

    /** The lease as {@link LockBackend#leaseDuration} rounded it. */
    Duration leaseDuration();

    /** False: one attempt, do not queue. */
    boolean mayWait();
}
