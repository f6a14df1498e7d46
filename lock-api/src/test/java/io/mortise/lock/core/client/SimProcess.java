// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockOptions;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.core.runtime.ClientScopedClock;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A simulated process with its client and application; the test can pause it together with its clock. */
final class SimProcess {
    /** One acquire call of the application. */
    static final class SimAcquire {
        final String name;
        final @Nullable Duration maxWait;
        final long started;
        final int order;
        CompletableFuture<?> future = new CompletableFuture<>();
        boolean paused;
        boolean ended;

        SimAcquire(String name, @Nullable Duration maxWait, long started, int order) {
            this.name = name;
            this.maxWait = maxWait;
            this.started = started;
            this.order = order;
        }
    }

    /** One lease that was delivered to the application. */
    static final class Held {
        final HeldLease lease;
        final SimAcquire acquire;
        final long grantOrder;
        boolean released;
        boolean seenEnded;
        int announced;

        Held(HeldLease lease, SimAcquire acquire, long grantOrder) {
            this.lease = lease;
            this.acquire = acquire;
            this.grantOrder = grantOrder;
        }
    }

    final SimWorld world;
    final int id;
    final CoreClient client;
    final List<SimAcquire> pending = new ArrayList<>();
    final List<Held> leases = new ArrayList<>();
    final Random random;
    boolean paused;
    boolean closing;
    boolean closed;
    long lastResponse;
    private final Deque<Runnable> delayedEvents = new ArrayDeque<>();
    private int timers;

    SimProcess(SimWorld world, int id) {
        this.world = world;
        this.id = id;
        this.random = new Random(world.seed * 31 + id);
        this.lastResponse = world.now();
        ClientScopedClock clock = new ClientScopedClock(new ProcessClock());
        ClientOptions options = ClientOptions.defaults()
                .requestTimeout(SimWorld.REQUEST_TIMEOUT)
                .callbackExecutor(task -> world.clock.schedule(
                        Duration.ofNanos(random.nextInt((int) SimWorld.CALLBACK_DELAY.toNanos())),
                        () -> deliver(task)));
        this.client = CoreClient.open(context -> new SimBackend(this, context), options, clock, random, clock::stop);
    }

    /** Runs the event now, or when the process resumes. */
    void deliver(Runnable event) {
        if (paused) {
            delayedEvents.add(event);
        } else {
            event.run();
        }
    }

    void pause() {
        paused = true;
        pending.forEach(acquire -> acquire.paused = true);
    }

    void resume() {
        paused = false;
        for (Held held : leases) { // S02: the first call, before any timer has run
            SimStore.Entry holder = world.store.holder(held.acquire.name);
            if (held.lease.isHeld()
                    && holder != null
                    && !holder.attempt.equals(held.lease.ownerId())
                    && !world.isExempt(held)) {
                world.violated(
                        "S02: isHeld() at the first call after a pause, but the store has granted it to another");
            }
        }
        while (!paused && !delayedEvents.isEmpty()) {
            delayedEvents.remove().run();
        }
    }

    /** Returns the number of timers that are set and have not run. */
    int timers() {
        return timers;
    }

    void acquire(String name, @Nullable Duration maxWait, LockOptions options) {
        SimAcquire acquire = new SimAcquire(name, maxWait, world.now(), world.nextOrder());
        pending.add(acquire);
        CoreLock lock = (CoreLock) client.named(name, options);
        if (maxWait == null) {
            CompletableFuture<Lease> future = lock.acquireAsync();
            acquire.future = future;
            future.whenComplete((lease, failure) -> done(acquire, Optional.ofNullable(lease), failure));
        } else {
            CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(maxWait);
            acquire.future = future;
            future.whenComplete((lease, failure) -> done(acquire, lease == null ? Optional.empty() : lease, failure));
        }
    }

    void giveUp(SimAcquire acquire) {
        acquire.ended = true;
        if (random.nextBoolean()) {
            acquire.future.cancel(true);
        } else {
            acquire.future.completeExceptionally(new CancellationException("by the application"));
        }
    }

    private void done(SimAcquire acquire, Optional<Lease> lease, @Nullable Throwable failure) {
        pending.remove(acquire);
        if (acquire.ended) {
            return;
        }
        if (failure instanceof ClientClosedException) {
            if (!closing) {
                world.violated("S16: failed as closed, but the client is not closing");
            }
            return;
        }
        if (acquire.maxWait != null && !acquire.paused) {
            Duration limit = acquire.maxWait.isZero() ? SimWorld.REQUEST_TIMEOUT : acquire.maxWait;
            long excess = world.now() - acquire.started - limit.toNanos();
            if (excess > SimWorld.CALLBACK_DELAY.plusMillis(50).toNanos()) {
                world.violated("S09: waited " + excess / 1_000_000 + " ms longer than " + limit);
            }
        }
        if (failure != null) {
            if (!(failure instanceof BackendUnavailableException)) {
                world.violated("S15: failed with " + failure);
            }
            if (!acquire.paused && world.alwaysHealthy(acquire.started)) {
                world.violated("S15: unavailable, but the store responded all the time: " + failure);
            }
            return;
        }
        if (lease.isEmpty()) {
            long silent = world.now() - lastResponse;
            long limit = Math.max(SimWorld.REQUEST_TIMEOUT.toNanos(), world.lease.toNanos() / 3);
            if (!acquire.paused && silent > limit + SimWorld.CALLBACK_DELAY.toNanos()) {
                world.violated("S15: busy, but the store has been silent for " + silent / 1_000_000 + " ms");
            }
            return;
        }
        if (closing) {
            world.violated("S16: a lease was delivered after close() began");
        }
        world.delivered(this, acquire, (HeldLease) lease.get());
    }

    void release(Held held) {
        if (!held.lease.hasEnded() && held.lease.isHeld()) {
            held.released = true;
        }
        held.lease.releaseAsync().thenAccept(outcome -> {
            if (outcome == null) {
                world.violated("S05: no outcome");
            }
        });
        if (random.nextInt(4) == 0) {
            held.lease.releaseAsync(); // idempotent
        }
    }

    void close() {
        closing = true;
        client.beginClose().thenRun(() -> world.clock.schedule(Duration.ZERO, () -> deliver(this::finish)));
    }

    private void finish() {
        client.finishClose();
        closed = true;
        if (client.queues.size() + client.holders.size() + client.keeper.size() > 0 || !client.cleanups.isEmpty()) {
            world.violated("S17: after close there are " + state());
        }
        if (timers != 0) {
            world.violated("S17: after close there are " + timers + " timers");
        }
    }

    String state() {
        return client.queues.size() + " queues, " + client.holders.size() + " leases, " + client.keeper.size()
                + " watched, cleanups " + (client.cleanups.isEmpty() ? "none" : "open");
    }

    private final class ProcessClock implements LockClock {
        @Override
        public MonotonicInstant now() {
            return world.clock.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            boolean[] ended = new boolean[1];
            timers++;
            Timer timer = world.clock.schedule(
                    delay,
                    () -> deliver(() -> {
                        if (!ended[0]) {
                            ended[0] = true;
                            timers--;
                            task.run();
                        }
                    }));
            return () -> {
                if (!ended[0]) {
                    ended[0] = true;
                    timers--;
                    timer.cancel();
                }
            };
        }
    }
}
