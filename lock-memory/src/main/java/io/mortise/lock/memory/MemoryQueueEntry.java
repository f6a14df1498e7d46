// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.OwnerRecord;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One contender in the store's queue of a lock, waiting or granted. What changes is guarded by the store's monitor. */
final class MemoryQueueEntry {
    /** NEW, then QUEUED perhaps, then GRANTED; OVER when the store took it away, ENDED when its contender did. */
    enum State {
        NEW,
        QUEUED,
        GRANTED,
        OVER,
        ENDED
    }

    final String name;
    final String ownerRecord;
    final Duration lease;
    final boolean mayWait;
    final MemoryBackend connection;
    final ContenderListener waiter;

    State state = State.NEW;
    long token;
    MonotonicTime expiresAt;
    MonotonicTime lastAsked;

    @Nullable
    Grant grant;

    MemoryQueueEntry(LockRequest request, MemoryBackend connection, ContenderListener waiter, MonotonicTime now) {
        this.name = request.name().value();
        this.ownerRecord = request.ownerRecord();
        this.lease = request.leaseDuration();
        this.mayWait = request.mayWait();
        this.connection = connection;
        this.waiter = waiter;
        this.lastAsked = now;
        this.expiresAt = now;
    }

    LockHolder holder() {
        return OwnerRecord.parse(ownerRecord, state == State.GRANTED ? OptionalLong.of(token) : OptionalLong.empty());
    }

    /** A hint: the store has something for it. */
    Runnable wake() {
        return () -> connection.push(true, waiter::wake);
    }

    /** Its grant is deleted. */
    Runnable lost(LossReason reason) {
        return () -> connection.push(false, () -> waiter.lost(reason));
    }

    /** What the holder's deadline hangs on: one per grant, counted from the instant that the store made it. */
    static final class Grant extends GrantValidity {
        final MemoryQueueEntry entry;

        Grant(MemoryQueueEntry entry, MonotonicTime madeAt) {
            super(entry.connection.clock(), Durations.divide(entry.lease, 3), LockClock.deadline(madeAt, entry.lease));
            this.entry = entry;
        }
    }
}
