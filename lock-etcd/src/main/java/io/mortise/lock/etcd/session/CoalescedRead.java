// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Combines concurrent read requests into one read of the store. No caller gets the result of a read that was sent before
 * its call. Thread-safe.
 */
final class CoalescedRead {
    private final Supplier<CompletionStage<Boolean>> sender;

    @GuardedBy("this")
    private boolean inProgress;

    /** The result for those who called while a read was in progress. */
    @GuardedBy("this")
    private @Nullable CompletableFuture<Boolean> next;

    /** @param sender sends one read */
    CoalescedRead(Supplier<CompletionStage<Boolean>> sender) {
        this.sender = sender;
    }

    /** Returns the result of a read that is sent after this call. */
    CompletionStage<Boolean> read() {
        CompletableFuture<Boolean> result;
        synchronized (this) {
            if (inProgress) {
                next = next == null ? new CompletableFuture<>() : next;
                return next;
            }
            inProgress = true;
            result = new CompletableFuture<>();
        }
        send(result);
        return result;
    }

    private void send(CompletableFuture<Boolean> result) {
        sent().whenComplete((exists, failure) -> {
            CompletableFuture<Boolean> following;
            synchronized (this) {
                following = next;
                next = null;
                inProgress = following != null;
            }
            if (following != null) {
                send(following);
            }
            if (failure == null) {
                result.complete(exists);
            } else {
                result.completeExceptionally(failure);
            }
        });
    }

    /** An exception is the failure of this read, after which others can be sent. */
    private CompletionStage<Boolean> sent() {
        try {
            return sender.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
