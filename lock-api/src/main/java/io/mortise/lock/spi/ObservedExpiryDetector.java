// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Decides when a grant has expired in a store without a clock, by measuring how long the record of the grant has remained
 * unchanged.
 *
 * <p>Some stores compare a version but no time: DynamoDB, a Kubernetes Lease, NATS JetStream, object stores with conditional
 * writes. Wall clocks of clients must not be compared (S2). So the record contains its lease duration, each renewal changes the
 * record's version, and a waiter that has read the same version for a whole lease duration on its own monotonic clock takes the
 * lock over. AWS's lock client for DynamoDB and the leader election of Kubernetes' client-go work in the same way.
 *
 * <p>This excludes two holders under three conditions. No two writes leave the same version with the same owner record: the
 * version is a revision, a random text, or a counter, which may begin again once a release has deleted the record, but no hash of
 * unchanged content. The write that takes the lock over is conditional on the version passed to {@link #hasEnded}, and on the
 * owner record too if versions begin again. And clocks run at the same rate within 1 %: the holder counts from before its write,
 * and less than the lease duration (S2), while the waiter counts from after its read.
 *
 * <p>The cost is a later takeover: a lease duration is counted from the first read after the last renewal, not from that
 * renewal. A single attempt ({@code tryAcquire} without a wait) takes over only what earlier attempts of this client have read. So
 * {@link LeaseStore#hasClock()} must return false, and there is no delayed release.
 *
 * <p>One instance serves all locks of a client. It keeps up to {@value #KEPT} observations, and more only for locks that were
 * read within the last two lease durations, or a little before (S17). Thread-safe.
 */
public final class ObservedExpiryDetector {
    private static final int KEPT = 1_000;

    /** The number of observations that are still needed after which a call looks for no more to drop. */
    private static final int MOST_NEEDED = 4;

    private final LockClock clock;

    /** The latest observation of each lock, in the order in which they were read, or found to be needed. */
    @GuardedBy("this")
    private final Map<LockName, Observation> observations = new LinkedHashMap<>();

    /**
     * A record as it was read.
     *
     * @param first when this version was read first
     * @param last when it was read last
     */
    private record Observation(
            String ownerRecord, Object version, Duration lease, MonotonicInstant first, MonotonicInstant last) {
        boolean isOf(String owner, Object current) {
            return ownerRecord.equals(owner) && version.equals(current);
        }
    }

    /** @param clock the clock of the client, from {@link BackendContext#clock()} */
    public ObservedExpiryDetector(LockClock clock) {
        this.clock = clock;
    }

    /**
     * Records what the store returned for a lock that another attempt holds, and returns whether that grant has ended. Called
     * when the reply has arrived, never before the request is sent.
     *
     * @param ownerRecord the owner record of the grant, as stored; it starts with the attempt id, which is new for each grant
     * @param version the version of the record; compared by {@code equals}
     * @param lease the lease duration that the record contains; a longer one than any lease has counts as the longest
     */
    public synchronized boolean hasEnded(LockName name, String ownerRecord, Object version, Duration lease) {
        MonotonicInstant now = clock.now();
        Observation known = observations.remove(name);
        MonotonicInstant first = known != null && known.isOf(ownerRecord, version) ? known.first : now;
        Duration possible = Durations.shorter(lease, DurationLimits.LONGEST_LEASE);
        observations.put(name, new Observation(ownerRecord, version, possible, first, now));
        dropUnread(now);
        return !now.isBefore(first.plus(possible));
    }

    /** Forgets the record of a lock that is free, or that this client holds now. */
    public synchronized void forget(LockName name) {
        observations.remove(name);
    }

    /** Drops the observations beyond the limit that no waiter needs any more. A dropped one only delays a takeover. */
    @GuardedBy("this")
    private void dropUnread(MonotonicInstant now) {
        int needed = 0;
        while (observations.size() > KEPT && needed < MOST_NEEDED) {
            Map.Entry<LockName, Observation> first =
                    observations.entrySet().iterator().next();
            LockName name = first.getKey();
            Observation oldest = first.getValue();
            observations.remove(name);
            if (now.isBefore(oldest.last.plus(oldest.lease.multipliedBy(2)))) {
                observations.put(name, oldest); // a long lease must not keep those behind it
                needed++;
            }
        }
    }

    /** Returns the number of observations, for tests. */
    synchronized int size() {
        return observations.size();
    }
}
