// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for the first proof of a session, told in the order in which they came (S12): what hangs on one future
 * would be told last come, first served.
 */
final class ReadyLine {
    private final CompletableFuture<ZkLiveness> outcome = new CompletableFuture<>();

    @GuardedBy("this")
    private final Deque<CompletableFuture<ZkLiveness>> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean told;

    synchronized CompletionStage<ZkLiveness> join() {
        if (told) {
            return outcome;
        }
        CompletableFuture<ZkLiveness> place = new CompletableFuture<>();
        waiting.add(place);
        return place;
    }

    /** False: it has ended already. */
    boolean complete(ZkLiveness liveness) {
        boolean first = outcome.complete(liveness);
        tell();
        return first;
    }

    void fail(Throwable cause) {
        outcome.completeExceptionally(cause);
        tell();
    }

    Optional<ZkLiveness> now() {
        return outcome.isDone() && !outcome.isCompletedExceptionally() ? Optional.of(outcome.join()) : Optional.empty();
    }

    private void tell() {
        for (CompletableFuture<ZkLiveness> next = next(); next != null; next = next()) {
            CompletableFuture<ZkLiveness> place = next;
            outcome.whenComplete((liveness, failure) -> {
                if (failure == null) {
                    place.complete(liveness);
                } else {
                    place.completeExceptionally(failure);
                }
            });
        }
    }

    private synchronized @Nullable CompletableFuture<ZkLiveness> next() {
        told = waiting.isEmpty();
        return waiting.poll();
    }
}
