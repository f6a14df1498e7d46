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
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A {@link LeaseStore} on a {@link InMemoryLockTable} that also simulates the faults of the link between client and table. */
public class FaultyLeaseStore implements LeaseStore, FaultyLink {
    private final InMemoryLockTable table;
    private final BooleanSupplier stopped;
    private final Set<Grant> granted = ConcurrentHashMap.newKeySet();

    // The fields below are guarded by this.
    private final Deque<Runnable> delayed = new ArrayDeque<>();
    private boolean silent;
    private boolean refusing;
    private boolean dropNextReply;
    private Duration oneWay = Duration.ZERO;

    /** @param backend has the table, which refuses all requests while the server is stopped */
    public FaultyLeaseStore(TableBackendUnderTest backend) {
        this.table = backend.table;
        this.stopped = () -> backend.stopped;
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        return send(() -> {
            Answer answer = table.tryAcquire(name, ownerRecord, lease);
            if (answer instanceof Answer.Token) {
                granted.add(new Grant(name, ownerRecord.substring(0, 32)));
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

    /** Ends all grants of this client as if they had expired. */
    void expire() {
        table.expire(granted);
    }

    private <T> CompletionStage<T> send(Supplier<T> request) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        boolean deliverReply;
        Duration pause;
        synchronized (this) {
            if (refusing || stopped.getAsBoolean()) {
                return CompletableFuture.failedFuture(new BackendUnavailableException(endpoints() + ": refused"));
            }
            deliverReply = !dropNextReply;
            dropNextReply = false;
            pause = oneWay;
        }
        runAfter(
                pause,
                () -> deliver(() -> {
                    T answer = request.get();
                    runAfter(
                            pause,
                            () -> deliver(() -> {
                                if (deliverReply) {
                                    reply.complete(answer);
                                }
                            }));
                }));
        return reply;
    }

    private static void runAfter(Duration pause, Runnable task) {
        if (pause.isZero()) {
            task.run();
        } else {
            CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(task);
        }
    }

    private void deliver(Runnable message) {
        synchronized (this) {
            if (silent) {
                delayed.add(message);
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
        refusing = true;
    }

    @Override
    public synchronized void dropNextReply() {
        dropNextReply = true;
    }

    @Override
    public synchronized void delay(Duration time) {
        oneWay = time;
    }

    /** A store in this JVM needs no connection. */
    @Override
    public OptionalInt openConnections() {
        return OptionalInt.of(0);
    }

    @Override
    public void heal() {
        Deque<Runnable> late;
        synchronized (this) {
            silent = false;
            refusing = false;
            dropNextReply = false;
            late = new ArrayDeque<>(delayed);
            delayed.clear();
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
