// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.internal.CleanUpFirstFuture;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One asynchronous acquire of a group, from the first request to the outcome. Thread-safe. */
final class GroupAcquisition<T> {
    private final List<DistributedLock> locks;
    private final WaitBudget budget;
    private final Function<Optional<GroupLease>, T> toResult;
    private final CompletableFuture<T> result = new CleanUpFirstFuture<>(this::giveBack);

    @GuardedBy("this")
    private final List<Lease> held = new ArrayList<>();

    @GuardedBy("this")
    private @Nullable CompletableFuture<?> pending;

    @GuardedBy("this")
    private boolean ended;

    GroupAcquisition(
            List<DistributedLock> locks, @Nullable Duration maxWait, Function<Optional<GroupLease>, T> toResult) {
        this.locks = locks;
        this.budget = new WaitBudget(maxWait);
        this.toResult = toResult;
    }

    CompletableFuture<T> begin() {
        request(0);
        return result;
    }

    private void request(int index) {
        if (index == locks.size()) {
            deliver();
            return;
        }
        Duration left = budget.left(); // before isOver(), so that a pause between them cannot make a wait of zero of it
        if (budget.isOver()) {
            giveUp();
            return;
        }
        DistributedLock lock = locks.get(index);
        if (left == null) {
            await(lock.acquireAsync(), index, null, Optional::of);
        } else {
            await(lock.tryAcquireAsync(left), index, left, lease -> lease);
        }
    }

    private <R> void await(
            CompletableFuture<R> request, int index, @Nullable Duration left, Function<R, Optional<Lease>> toLease) {
        boolean late;
        synchronized (this) {
            late = ended;
            pending = request;
        }
        request.whenComplete((reply, failure) -> {
            try {
                if (failure == null) {
                    onReply(toLease.apply(reply), index);
                } else {
                    onFailure(StageFailures.unwrap(failure), index, left);
                }
            } catch (Throwable e) { // nobody else would see it, and the locks would stay taken
                fail(e);
            }
        });
        if (late) {
            request.cancel(false);
        }
    }

    private void onReply(Optional<Lease> lease, int index) {
        if (lease.isEmpty()) {
            giveUp();
            return;
        }
        boolean late;
        synchronized (this) {
            late = ended;
            if (!late) {
                held.add(lease.get());
            }
        }
        if (late) {
            GroupLease.giveBack(List.of(lease.get()));
        } else {
            request(index + 1);
        }
    }

    private void onFailure(Throwable failure, int index, @Nullable Duration left) {
        if (index > 0 && WaitBudget.ranOut(left, failure)) {
            giveUp();
        } else {
            fail(failure);
        }
    }

    private void giveUp() {
        if (!hasEnded()) {
            result.complete(toResult.apply(Optional.empty()));
        }
    }

    private void fail(Throwable failure) {
        if (!hasEnded()) {
            result.completeExceptionally(failure);
        }
    }

    /** Returns whether the outcome is decided: a request that is withdrawn for that reason must not decide another one. */
    private synchronized boolean hasEnded() {
        return ended;
    }

    private void deliver() {
        List<Lease> all;
        synchronized (this) {
            all = List.copyOf(held);
        }
        T group = toResult.apply(Optional.of(new GroupLease(all)));
        synchronized (this) {
            if (ended) {
                return; // they have been given back
            }
            ended = true; // nothing may fail from here on: neither a failure nor a rollback would follow
        }
        if (!result.complete(group)) {
            GroupLease.giveBack(all);
        }
    }

    /** Withdraws the pending request and gives all locks back, unless they were delivered. */
    private void giveBack() {
        List<Lease> all;
        CompletableFuture<?> withdrawn;
        synchronized (this) {
            if (ended) {
                return;
            }
            all = List.copyOf(held);
            withdrawn = pending;
            ended = true;
        }
        try {
            if (withdrawn != null) {
                withdrawn.cancel(false); // withdraws the request, if it has no reply yet
            }
        } finally {
            GroupLease.giveBack(all);
        }
    }
}
