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
 * The acquire requests of one contender, each sent after those before it. If another's answer shows that the lock is taken, "waiting" is
 * their answer too.
 */
final class SequencedAcquire implements AcquireSequencer.Sender {
    private final AttemptResult waiting;
    private final ContenderListener waiter;

    @GuardedBy("this")
    private @Nullable Unsent unsent;

    /**
     * What the store said.
     *
     * @param isTaken whether the lock is somebody's by it who stays; asked once the core has heard of the attempt, and perhaps
     *     has given it back
     */
    record Heard(AttemptResult attempt, BooleanSupplier isTaken) {}

    private record Unsent(
            AcquireSequencer order, Supplier<CompletionStage<Heard>> request, CompletableFuture<AttemptResult> later) {}

    /**
     * For one contender.
     *
     * @param waiting the answer while others are ahead
     * @param waiter is to ask again when it is first after that answer
     */
    SequencedAcquire(AttemptResult waiting, ContenderListener waiter) {
        this.waiting = waiting;
        this.waiter = waiter;
    }

    /** @param request sends it, and may send more: the next one waits until it is known what the store has of it */
    CompletionStage<AttemptResult> send(AcquireSequencer order, Supplier<CompletionStage<Heard>> request) {
        Unsent asked = new Unsent(order, request, new CompletableFuture<>());
        synchronized (this) {
            unsent = asked;
        }
        if (order.mayGo(this)) {
            mayGo();
        }
        return asked.later;
    }

    @Override
    public boolean isWanted() {
        return waiter.isWanted();
    }

    @Override
    public void mayGo() {
        Unsent asked = take();
        if (asked == null) {
            waiter.wake();
            return;
        }
        CompletionStage<Heard> sent;
        try {
            sent = asked.request.get();
        } catch (RuntimeException | Error e) {
            sent = CompletableFuture.failedFuture(e);
        }
        sent.whenComplete((heard, failure) -> heard(asked, heard, failure));
    }

    /** First its own outcome, then the others': they wait for whoever got it, not for one who has given it back at once. */
    private void heard(Unsent asked, @Nullable Heard heard, @Nullable Throwable failure) {
        if (heard == null) {
            asked.later.completeExceptionally(failure);
        } else {
            asked.later.complete(heard.attempt);
        }
        if (heard == null
                || heard.attempt instanceof AttemptResult.Displaced) { // without a session there is no order to keep
            asked.order.open();
        } else {
            asked.order.answered(this, heard.isTaken.getAsBoolean());
        }
    }

    @Override
    public void behind() {
        Unsent asked = take();
        if (asked != null) {
            asked.later.complete(waiting);
        }
    }

    @Override
    public void unsent() {
        Unsent asked = take();
        if (asked != null) {
            asked.later.completeExceptionally(
                    new BackendUnavailableException("not sent: nobody wants it, and the store does not answer"));
        }
    }

    private synchronized @Nullable Unsent take() {
        Unsent taken = unsent;
        unsent = null;
        return taken;
    }
}
