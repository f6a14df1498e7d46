// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One read of the store for all who ask at the same time, sent after the last of them asked. Thread-safe. */
final class SharedRead {
    private final Supplier<CompletionStage<Boolean>> read;

    @GuardedBy("this")
    private boolean underWay;

    /** Of those who asked while one was under way. */
    @GuardedBy("this")
    private @Nullable CompletableFuture<Boolean> next;

    /** @param read sends one; does not throw */
    SharedRead(Supplier<CompletionStage<Boolean>> read) {
        this.read = read;
    }

    CompletionStage<Boolean> fromNow() {
        CompletableFuture<Boolean> asked;
        synchronized (this) {
            if (underWay) {
                next = next == null ? new CompletableFuture<>() : next;
                return next;
            }
            underWay = true;
            asked = new CompletableFuture<>();
        }
        send(asked);
        return asked;
    }

    private void send(CompletableFuture<Boolean> asked) {
        read.get().whenComplete((there, failure) -> {
            CompletableFuture<Boolean> following;
            synchronized (this) {
                following = next;
                next = null;
                underWay = following != null;
            }
            if (following != null) {
                send(following);
            }
            if (failure == null) {
                asked.complete(there);
            } else {
                asked.completeExceptionally(failure);
            }
        });
    }
}
