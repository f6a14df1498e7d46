// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.queue.AcquireSequencer;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.ContenderListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends one contender's acquire requests, each when the lock's {@link AcquireSequencer} allows it. If the reply to another
 * contender's request shows that the lock is taken, the pending request completes with "waiting".
 */
final class InTurnAcquireSender implements AcquireSequencer.Sender {
    private final AttemptResult waiting;
    private final ContenderListener listener;

    @GuardedBy("this")
    private @Nullable Request pending;

    /**
     * The reply of the store.
     *
     * @param result the result of the attempt
     * @param isTaken returns whether a contender, possibly this one, has the lock and stays; called after the core received
     *     the result and has possibly given the grant back
     */
    record Reply(AttemptResult result, BooleanSupplier isTaken) {}

    private record Request(
            AcquireSequencer sequencer,
            Supplier<CompletionStage<Reply>> send,
            CompletableFuture<AttemptResult> result) {}

    /**
     * Creates the sender of one contender.
     *
     * @param waiting the result while others are ahead
     * @param listener asked to try again when it is the contender's turn after that result
     */
    InTurnAcquireSender(AttemptResult waiting, ContenderListener listener) {
        this.waiting = waiting;
        this.listener = listener;
    }

    /**
     * Sends a request when it is the contender's turn.
     *
     * @param send sends the acquire, in one or more requests; the next contender waits until the result is known
     */
    CompletionStage<AttemptResult> send(AcquireSequencer sequencer, Supplier<CompletionStage<Reply>> send) {
        Request request = new Request(sequencer, send, new CompletableFuture<>());
        synchronized (this) {
            pending = request;
        }
        if (sequencer.maySend(this)) {
            sendNow();
        }
        return request.result;
    }

    @Override
    public boolean isStillNeeded() {
        return listener.isStillWaiting();
    }

    @Override
    public void sendNow() {
        Request request = take();
        if (request == null) {
            listener.wake();
            return;
        }
        CompletionStage<Reply> sent;
        try {
            sent = request.send.get();
        } catch (RuntimeException | Error e) {
            sent = CompletableFuture.failedFuture(e);
        }
        sent.whenComplete((reply, failure) -> onReply(request, reply, failure));
    }

    /**
     * Completes the contender's own result first, then notifies the others: they must wait for a contender that keeps the
     * lock, not for one that gives it back at once.
     */
    private void onReply(Request request, @Nullable Reply reply, @Nullable Throwable failure) {
        if (reply == null) {
            request.result.completeExceptionally(failure);
        } else {
            request.result.complete(reply.result);
        }
        if (reply == null
                || reply.result instanceof AttemptResult.Displaced) { // without a session there is no order to keep
            request.sequencer.releaseAll();
        } else {
            request.sequencer.onReply(this, reply.isTaken.getAsBoolean());
        }
    }

    @Override
    public void lockTaken() {
        Request request = take();
        if (request != null) {
            request.result.complete(waiting);
        }
    }

    @Override
    public void notSent() {
        Request request = take();
        if (request != null) {
            request.result.completeExceptionally(new BackendUnavailableException(
                    "not sent: no caller needs the lock any more, and the store does not respond"));
        }
    }

    private synchronized @Nullable Request take() {
        Request taken = pending;
        pending = null;
        return taken;
    }
}
