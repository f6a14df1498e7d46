// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Several locks that are acquired together: all of them, or none.
 *
 * <p>The locks are acquired one after the other, in the order of their names, whatever order the application names them in. So
 * groups that share locks never deadlock, in all processes and across stores. Immutable and thread-safe.
 */
public final class LockGroup {
    private final List<DistributedLock> locks;

    private LockGroup(List<DistributedLock> sorted) {
        this.locks = sorted;
    }

    /** Returns the group of these locks; see {@link #of(Collection)}. */
    public static LockGroup of(DistributedLock... locks) {
        return of(List.of(Objects.requireNonNull(locks, "locks")));
    }

    /**
     * Returns the group of these locks, which may be of several clients and stores.
     *
     * @param locks one or more, with different names: the names alone, as sequences of UTF-16 code units, determine the order
     * @throws IllegalArgumentException if there is no lock, or a name occurs twice
     */
    public static LockGroup of(Collection<? extends DistributedLock> locks) {
        List<DistributedLock> sorted = new ArrayList<>(List.copyOf(Objects.requireNonNull(locks, "locks")));
        sorted.sort(Comparator.comparing(DistributedLock::name));
        if (sorted.isEmpty()) {
            throw new IllegalArgumentException("locks is empty, must be one or more");
        }
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i).name().equals(sorted.get(i - 1).name())) {
                throw new IllegalArgumentException(
                        "lock \"" + LockName.shown(sorted.get(i).name())
                                + "\" occurs twice in the group: the names must differ, also those of two stores");
            }
        }
        return new LockGroup(List.copyOf(sorted));
    }

    /** Returns the names of the locks, in the order in which they are acquired. */
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    /**
     * Acquires all locks, and waits as long as other owners hold any of them.
     *
     * @return the leases, which the caller must release
     * @throws InterruptedException if the thread is interrupted; all locks are then given back
     * @throws io.mortise.lock.LockException as {@link DistributedLock#acquire()}, or
     *     {@link io.mortise.lock.LeaseLostException} if one of the locks was lost while the group waited for another; all locks are
     *     then given back
     */
    public GroupLease acquire() throws InterruptedException {
        return acquireWithin(null).orElseThrow();
    }

    /**
     * Acquires all locks, and waits for them at most {@code maxWait} in total. The call returns less than 50 ms after that limit;
     * the locks that it got are then given back in the background (S8). A lock that is requested in the last 50 ms, after others
     * took the rest, and whose store has neither replied nor failed at the limit, was not granted in time; that is no outage (S15).
     *
     * @param maxWait zero or more; zero makes one attempt for each lock, as long as they are free
     * @return the leases, which the caller must release; empty if not all locks were granted until the limit
     * @throws InterruptedException if the thread is interrupted; all locks are then given back
     * @throws io.mortise.lock.LockException as {@link DistributedLock#tryAcquire(Duration)}, or
     *     {@link io.mortise.lock.LeaseLostException} as for {@link #acquire()}; all locks are then given back
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    public Optional<GroupLease> tryAcquire(Duration maxWait) throws InterruptedException {
        return acquireWithin(checked(maxWait));
    }

    /**
     * Acquires all locks as {@link #acquire()} does, without blocking. If the caller ends the future early, all locks are given
     * back.
     */
    public CompletableFuture<GroupLease> acquireAsync() {
        return new GroupAcquisition<GroupLease>(locks, null, lease -> lease.orElseThrow()).begin();
    }

    /**
     * Acquires all locks as {@link #tryAcquire} does, without blocking. If the caller ends the future early, all locks are given
     * back.
     *
     * @param maxWait zero or more
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    public CompletableFuture<Optional<GroupLease>> tryAcquireAsync(Duration maxWait) {
        return new GroupAcquisition<Optional<GroupLease>>(locks, checked(maxWait), lease -> lease).begin();
    }

    private Optional<GroupLease> acquireWithin(@Nullable Duration maxWait) throws InterruptedException {
        WaitBudget budget = new WaitBudget(maxWait);
        List<Lease> held = new ArrayList<>();
        boolean complete = false;
        try {
            for (DistributedLock lock : locks) {
                Duration left = budget.left();
                Optional<Lease> lease;
                try {
                    lease = left == null
                            ? Optional.of(lock.acquire())
                            : budget.isOver() ? Optional.empty() : lock.tryAcquire(left);
                } catch (BackendUnavailableException e) {
                    if (held.isEmpty() || !WaitBudget.ranOut(left, e)) {
                        throw e;
                    }
                    lease = Optional.empty();
                }
                if (lease.isEmpty()) {
                    return Optional.empty();
                }
                held.add(lease.get());
            }
            GroupLease group = new GroupLease(held);
            complete = true;
            return Optional.of(group);
        } finally {
            if (!complete) {
                GroupLease.giveBack(held);
            }
        }
    }

    private static Duration checked(Duration maxWait) {
        if (Objects.requireNonNull(maxWait, "maxWait").isNegative()) {
            throw new IllegalArgumentException("maxWait is " + maxWait + ", must be zero or more");
        }
        return maxWait;
    }

    @Override
    public String toString() {
        return "LockGroup" + names().stream().map(LockName::shown).toList();
    }
}
