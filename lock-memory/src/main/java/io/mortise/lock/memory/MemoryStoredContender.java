// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A contender as the store sees it: new, queued or holding the lock. The store's monitor guards its mutable fields. */
final class MemoryStoredContender {
    /** The state of an entry. */
    enum State {
        /** Not known to the store yet. */
        NEW,
        /** Waits in the queue of the lock. */
        QUEUED,
        /** Holds the lock. */
        GRANTED,
        /** Released by its contender, but keeps the lock until its time has passed. */
        RELEASED_LATER,
        /** Removed by the store: its lease expired, an operator removed it, or it was a dead waiter. */
        REMOVED,
        /** Released or withdrawn by its contender. */
        ENDED;

        /** Returns whether the lock is taken by an entry in this state. */
        boolean keepsLock() {
            return this == GRANTED || this == RELEASED_LATER;
        }
    }

    final String name;
    final String ownerRecord;
    final Duration lease;
    final boolean mayWait;
    final MemoryBackend connection;
    final ContenderListener listener;

    State state = State.NEW;
    long token;
    MonotonicInstant expiresAt;
    MonotonicInstant lastAttempt;

    @Nullable
    Grant grant;

    MemoryStoredContender(
            LockRequest request, MemoryBackend connection, ContenderListener listener, MonotonicInstant now) {
        this.name = request.name().value();
        this.ownerRecord = request.ownerRecord();
        this.lease = request.leaseDuration();
        this.mayWait = request.mayWait();
        this.connection = connection;
        this.listener = listener;
        this.lastAttempt = now;
        this.expiresAt = now;
    }

    LockHolder holder() {
        return OwnerRecordCodec.parse(ownerRecord, state.keepsLock() ? OptionalLong.of(token) : OptionalLong.empty());
    }

    /** Returns the message that wakes the contender. */
    Runnable wake() {
        return () -> connection.push(true, listener::wake);
    }

    /** Returns the message that the grant was deleted. */
    Runnable lost(LossReason reason) {
        return () -> connection.push(false, () -> listener.lost(reason));
    }

    /** The validity of one grant, whose deadline counts from the instant at which the store created the grant. */
    static final class Grant extends GrantValidity {
        final MemoryStoredContender entry;

        Grant(MemoryStoredContender entry, MonotonicInstant createdAt) {
            super(
                    entry.connection.clock(),
                    Durations.divide(entry.lease, 3),
                    LockClock.deadline(createdAt, entry.lease));
            this.entry = entry;
        }
    }
}
