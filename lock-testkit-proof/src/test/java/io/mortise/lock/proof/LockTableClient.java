// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** One client of a {@link LockTable}, and the link between the two. */
final class LockTableClient implements LeaseStore, FaultyLink {
    private final LockTable table;
    private final BooleanSupplier stopped;
    private final Set<Grant> taken = ConcurrentHashMap.newKeySet();

    // All guarded by this.
    private final Deque<Runnable> held = new ArrayDeque<>();
    private boolean silent;
    private boolean refuses;
    private boolean losesReply;
    private Duration oneWay = Duration.ZERO;

    /** @param stopped whether the table serves nobody at present */
    LockTableClient(LockTable table, BooleanSupplier stopped) {
        this.table = table;
        this.stopped = stopped;
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        return send(() -> {
            Answer answer = table.tryAcquire(name, ownerRecord, lease);
            if (answer instanceof Answer.Token) {
                taken.add(new Grant(name, ownerRecord.substring(0, 32)));
            }
            return answer;
        });
    }

    @Override
    public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
        return send(() -> table.renew(grants, lease));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return send(() -> table.release(grant));
    }

    /** All that it was ever granted ends. */
    void expire() {
        table.expire(taken);
    }

    private <T> CompletionStage<T> send(Supplier<T> request) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        boolean answered;
        Duration pause;
        synchronized (this) {
            if (refuses || stopped.getAsBoolean()) {
                return CompletableFuture.failedFuture(new BackendUnavailableException(endpoints() + ": refused"));
            }
            answered = !losesReply;
            losesReply = false;
            pause = oneWay;
        }
        later(
                pause,
                () -> pass(() -> {
                    T answer = request.get();
                    later(
                            pause,
                            () -> pass(() -> {
                                if (answered) {
                                    reply.complete(answer);
                                }
                            }));
                }));
        return reply;
    }

    private static void later(Duration pause, Runnable task) {
        if (pause.isZero()) {
            task.run();
        } else {
            CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(task);
        }
    }

    private void pass(Runnable message) {
        synchronized (this) {
            if (silent) {
                held.add(message);
                return;
            }
        }
        message.run();
    }

    @Override
    public synchronized void blackHole() {
        silent = true;
    }

    @Override
    public synchronized void cut() {
        refuses = true;
    }

    @Override
    public synchronized void dropNextReply() {
        losesReply = true;
    }

    @Override
    public synchronized void delay(Duration time) {
        oneWay = time;
    }

    @Override
    public void heal() {
        Deque<Runnable> late;
        synchronized (this) {
            silent = false;
            refuses = false;
            losesReply = false;
            late = new ArrayDeque<>(held);
            held.clear();
        }
        late.forEach(Runnable::run);
    }

    @Override
    public String endpoints() {
        return "a table in memory";
    }

    @Override
    public void close() {}
}
