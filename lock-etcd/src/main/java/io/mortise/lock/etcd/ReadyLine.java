// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for a session to be opened, told in the order in which they came (S12): what hangs on one future
 * would be told last come, first served.
 */
final class ReadyLine {
    private final CompletableFuture<EtcdLiveness> outcome = new CompletableFuture<>();

    @GuardedBy("this")
    private final Deque<CompletableFuture<EtcdLiveness>> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    private boolean told;

    synchronized CompletionStage<EtcdLiveness> join() {
        if (told) {
            return outcome;
        }
        CompletableFuture<EtcdLiveness> place = new CompletableFuture<>();
        waiting.add(place);
        return place;
    }

    /** False: it has ended already. */
    boolean complete(EtcdLiveness liveness) {
        boolean first = outcome.complete(liveness);
        tell();
        return first;
    }

    void fail(Throwable cause) {
        outcome.completeExceptionally(cause);
        tell();
    }

    Optional<EtcdLiveness> now() {
        return outcome.isDone() && !outcome.isCompletedExceptionally() ? Optional.of(outcome.join()) : Optional.empty();
    }

    private void tell() {
        for (CompletableFuture<EtcdLiveness> next = next(); next != null; next = next()) {
            CompletableFuture<EtcdLiveness> place = next;
            outcome.whenComplete((liveness, failure) -> {
                if (failure == null) {
                    place.complete(liveness);
                } else {
                    place.completeExceptionally(failure);
                }
            });
        }
    }

    private synchronized @Nullable CompletableFuture<EtcdLiveness> next() {
        told = waiting.isEmpty();
        return waiting.poll();
    }
}
