// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The leaders of an etcd cluster, and a lease with the key of its session. A leader that was replaced goes on alone until it hears of
 * that. Instants are on the clock of the client; those of the cluster run as fast as they may.
 */
final class ModelledLeaders {
    /** What the cluster grants, whatever the client requests. */
    static final Duration GRANTED = Duration.ofSeconds(4);

    private static final Duration SHORTEST = GRANTED.multipliedBy(100).dividedBy(101);

    /** A leader. It may end the lease from that instant on. */
    record Leader(long term, MonotonicInstant leaseEnds) {}

    private final List<Leader> replaced = new ArrayList<>();
    private Leader present = new Leader(1, new MonotonicInstant(0));
    boolean hasLease;
    boolean hasKey;

    /** Returns the leaders that may renew the lease for a member with that term, which knows no earlier one. */
    List<Leader> from(long term) {
        List<Leader> all = new ArrayList<>(replaced);
        all.add(present);
        all.removeIf(leader -> leader.term < term);
        return all;
    }

    List<Leader> replaced() {
        return List.copyOf(replaced);
    }

    long term() {
        return present.term;
    }

    boolean isReplaced(Leader leader) {
        return !leader.equals(present);
    }

    void grantLease(MonotonicInstant now) {
        hasLease = true;
        restart(now);
    }

    private void restart(MonotonicInstant now) {
        present = new Leader(present.term, now.plus(SHORTEST));
    }

    /** Returns whether the leader finds the lease, which it renews. */
    boolean renew(Leader leader, MonotonicInstant now) {
        if (!isReplaced(leader)) {
            if (hasLease) {
                restart(now);
            }
            return hasLease;
        }
        boolean found = now.isBefore(leader.leaseEnds); // it knows of no end but that
        if (found) {
            replaced.set(replaced.indexOf(leader), new Leader(leader.term, now.plus(SHORTEST)));
        }
        return found;
    }

    void endLease() {
        hasLease = false;
        hasKey = false;
        present = new Leader(present.term, new MonotonicInstant(0));
    }

    /** Another leader is elected, which restarts the time of the lease. */
    void elect(MonotonicInstant now) {
        replaced.add(present);
        present = new Leader(present.term + 1, now.plus(SHORTEST));
    }

    void stepDown(Leader leader) {
        replaced.remove(leader);
    }

    boolean mayEndLease(MonotonicInstant now) {
        return hasLease && !now.isBefore(present.leaseEnds);
    }

    void describe(StateKey key, MonotonicInstant now) {
        key.flags(hasLease, hasKey);
        key.list(from(0), (into, leader) -> into.number(leader.term).number(left(leader.leaseEnds, now)));
    }

    /** Returns the time that is left until an instant, in ms; 0 if it has passed. */
    static long left(MonotonicInstant until, MonotonicInstant now) {
        return Math.max(0, now.until(until).toMillis());
    }
}
