// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.LockOptions;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of one random schedule, which checks the rules at each step. It has a store, some processes, an unreliable
 * network and a random workload.
 */
final class SimWorld {
    static final Duration REQUEST_TIMEOUT = Duration.ofMillis(600);
    static final Duration FALLBACK = Duration.ofSeconds(1);
    static final Duration CALLBACK_DELAY = Duration.ofMillis(5);

    final long seed;
    final SimFault fault;
    final Random random;
    final ManualClock clock = new ManualClock();
    final boolean queuing;
    final boolean sessions;
    final Duration lease;
    final SimStore store;
    boolean chaos = true;
    int steps;

    private final List<SimProcess> processes = new ArrayList<>();
    private final Set<String> owners = new HashSet<>();
    private boolean outage;
    private boolean hintsLost;
    private long healthySince;
    private int orders;
    private int processIds;
    private @Nullable String violation;

    SimWorld(long seed, SimFault fault, boolean queuing, boolean sessions) {
        this.seed = seed;
        this.fault = fault;
        this.random = new Random(seed);
        this.queuing = queuing;
        this.sessions = sessions;
        this.lease = Duration.ofMillis(2_000 + random.nextInt(2_000));
        this.store = new SimStore(this, 1 + (random.nextDouble() - 0.5) * 0.018);
    }

    long now() {
        return clock.now().nanos();
    }

    int nextOrder() {
        return orders++;
    }

    void violated(String rule) {
        if (violation == null) {
            violation = rule;
        }
    }

    List<SimBackend> ordered(Collection<SimBackend> clients) {
        return clients.stream()
                .sorted(Comparator.comparingInt(client -> client.process.id))
                .toList();
    }

    // --- the network ---

    <T> CompletableFuture<T> send(SimProcess from, Supplier<T> execution) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        int luck = chaos ? random.nextInt(100) : 99;
        if ((outage && luck % 8 != 0) || luck < 3) {
            if (luck % 3 == 0) {
                clock.schedule(
                        delay(), () -> from.deliver(() -> reply.completeExceptionally(SimBackend.refusedConnection())));
            }
            return reply; // the request was lost
        }
        Duration transit = luck < 6 ? Duration.ofMillis(random.nextInt(3_000)) : delay();
        boolean replyLost = (outage && chaos) || (luck >= 6 && luck < 10);
        clock.schedule(transit, () -> {
            T value = execution.get();
            if (!replyLost) {
                clock.schedule(
                        delay(),
                        () -> from.deliver(() -> {
                            from.lastResponse = now();
                            reply.complete(value);
                        }));
            }
        });
        return reply;
    }

    /** Sends a message from the store to a client, unless it is lost. */
    void push(SimBackend to, Runnable event, boolean lost) {
        boolean dropped = hintsLost || (chaos && (outage || random.nextInt(8) == 0));
        if (!lost && !dropped && !to.closed) {
            Duration transit = chaos && random.nextInt(8) == 0 ? Duration.ofMillis(random.nextInt(1_500)) : delay();
            clock.schedule(transit, () -> to.process.deliver(event));
        }
    }

    private Duration delay() {
        return Duration.ofNanos(200_000 + random.nextInt(3_000_000));
    }

    boolean alwaysHealthy(long since) {
        return !chaos && healthySince < since;
    }

    // --- the events and the checks ---

    /** Checks at each new grant that the previous holder has been notified of its loss, unless its process is paused (S7). */
    void granted(SimStore.Entry entry) {
        for (SimProcess process : processes) {
            for (SimProcess.Held held : process.leases) {
                if (held.acquire.name.equals(entry.name)
                        && !held.lease.ownerId().equals(entry.attempt)
                        && !process.paused
                        && !held.lease.hasEnded()
                        && !isExempt(held)) {
                    violated(cause(held) + ": the store granted " + entry.name
                            + " again before its previous holder was notified");
                }
            }
        }
    }

    void delivered(SimProcess process, SimProcess.SimAcquire acquire, HeldLease lease) {
        Long order = store.grantOrder.get(lease.ownerId());
        SimProcess.Held held = new SimProcess.Held(lease, acquire, order == null ? 0 : order);
        if (!owners.add(lease.ownerId())) {
            violated("S04: owner id " + lease.ownerId() + " twice");
        }
        for (SimProcess other : processes) {
            for (SimProcess.Held before : other.leases) {
                if (before.acquire.name.equals(acquire.name)) {
                    boolean increases = before.grantOrder < held.grantOrder
                            ? before.lease.fencingToken() < lease.fencingToken()
                            : before.lease.fencingToken() > lease.fencingToken();
                    if (!increases) {
                        violated("S03: token " + lease.fencingToken() + " does not increase");
                    }
                    boolean sameQueue = other == process && !queuing && mayWait(acquire) && mayWait(before.acquire);
                    if (sameQueue && (before.acquire.order < acquire.order) != (before.grantOrder < held.grantOrder)) {
                        violated("S12: overtaken in its own process");
                    }
                }
            }
        }
        process.leases.add(held);
        lease.lost().thenAccept(reason -> {
            held.announced++;
            if (held.announced > 1 || held.released) {
                violated("S07: loss announced " + held.announced + " times, released: " + held.released);
            }
        });
        if (chaos && random.nextInt(20) != 0) {
            clock.schedule(
                    Duration.ofMillis(random.nextInt(1_500)), () -> process.deliver(() -> process.release(held)));
        }
    }

    private static boolean mayWait(SimProcess.SimAcquire acquire) {
        return acquire.maxWait == null || !acquire.maxWait.isZero();
    }

    /** Returns whether S1 does not cover the lease: an operator removed its grant, and the holder may not know it yet. */
    boolean isExempt(SimProcess.Held held) {
        return store.deleted.contains(held.lease.ownerId());
    }

    /** Returns the rule that is violated if a lease is held but the store does not have its grant. */
    private String cause(SimProcess.Held held) {
        SimStore.Removal removal = store.removed.get(held.lease.ownerId());
        if (removal == SimStore.Removal.FOREIGN_END) {
            return "S05";
        }
        return removal == SimStore.Removal.EXPIRED || removal == SimStore.Removal.SESSION_ENDED ? "S07" : "S01";
    }

    private void check() {
        for (SimStore.Entry entry : store.all()) {
            if (store.removed.containsKey(entry.attempt)) {
                violated("S06: a grant that was removed is in the store again, without a request for it");
            }
        }
        for (SimProcess process : processes) {
            if (process.paused) {
                continue;
            }
            for (SimProcess.Held held : process.leases) {
                boolean isHeld = held.lease.isHeld();
                if (isHeld && held.seenEnded) {
                    violated("S06: isHeld() became true again");
                }
                held.seenEnded |= !isHeld;
                if (!isHeld && !held.lease.hasEnded()) {
                    violated("S07: the deadline has passed, but the holder was not notified");
                }
                if (isHeld && !isExempt(held)) {
                    SimStore.Entry holder = store.holder(held.acquire.name);
                    if (holder == null || !holder.attempt.equals(held.lease.ownerId())) {
                        violated(cause(held) + ": isHeld(), but the store has "
                                + (holder == null ? "no holder" : "another holder"));
                    }
                    for (SimProcess other : processes) {
                        for (SimProcess.Held rival : other.leases) {
                            if (rival != held
                                    && !other.paused
                                    && rival.acquire.name.equals(held.acquire.name)
                                    && rival.lease.isHeld()
                                    && !isExempt(rival)) {
                                violated("S01: two leases of " + held.acquire.name + " are held");
                            }
                        }
                    }
                }
            }
            if (!process.closing) {
                checkWaiters(process);
            }
        }
    }

    private void checkWaiters(SimProcess process) {
        for (SimProcess.SimAcquire acquire : process.pending) {
            long silent = now() - Math.max(acquire.started, process.lastResponse);
            // The outage counts from the first request without a response, which may follow after a whole fallback
            // time.
            long limit = lease.plus(FALLBACK.multipliedBy(6).dividedBy(5))
                    .plus(REQUEST_TIMEOUT)
                    .plusMillis(100)
                    .toNanos();
            if (acquire.maxWait == null && !acquire.paused && silent > limit) {
                violated("S15: still waits after " + silent / 1_000_000 + " ms without a response");
            }
            if (acquire.maxWait != null && !acquire.paused) {
                Duration bound = acquire.maxWait.isZero() ? REQUEST_TIMEOUT : acquire.maxWait;
                if (now() - acquire.started > bound.plusMillis(60).toNanos()) {
                    violated("S09: still waits after " + bound);
                }
            }
        }
    }

    /** Runs the simulation for the given time; each instant at which timers are due is one step. */
    private void run(Duration time) {
        runUntil(time, () -> false);
    }

    private boolean runUntil(Duration time, BooleanSupplier done) {
        long end = now() + time.toNanos();
        while (violation == null && !done.getAsBoolean()) {
            Duration next = clock.untilNextTimer().orElse(Duration.ofDays(1));
            if (steps > 500_000) {
                violated("S17: the simulation never becomes idle");
            }
            if (now() + next.toNanos() > end) {
                clock.advance(Duration.ofNanos(end - now()));
                break;
            }
            clock.advance(next);
            steps++;
            check();
        }
        if (violation != null) {
            throw new AssertionError(violation + " [seed " + seed + ", queuing " + queuing + ", sessions " + sessions
                    + ", lease " + lease + ", at " + now() / 1_000_000 + " ms; -Dmortise.sim.seed=" + seed + "]");
        }
        return done.getAsBoolean();
    }

    // --- the schedule ---

    void play() {
        int count = 2 + random.nextInt(2);
        for (int i = 0; i < count; i++) {
            processes.add(new SimProcess(this, processIds++));
        }
        for (int i = 0; i < count; i++) {
            scheduleActions(i);
        }
        scheduleOutage();
        run(Duration.ofMillis(5_000 + random.nextInt(5_000)));
        recoverAndCheck();
        checkHandOffs();
        closeAll();
    }

    private void scheduleActions(int slot) {
        clock.schedule(Duration.ofMillis(random.nextInt(500)), () -> {
            if (chaos) {
                SimProcess process = processes.get(slot);
                if (!process.paused && !process.closing) {
                    act(process, slot);
                }
                scheduleActions(slot);
            }
        });
    }

    private void act(SimProcess process, int slot) {
        String name = random.nextInt(4) == 0 ? "b" : "a";
        LockOptions options = random.nextInt(8) == 0
                ? LockOptions.defaults().maxHold(Duration.ofMillis(200 + random.nextInt(1_500)))
                : LockOptions.defaults();
        switch (random.nextInt(14)) {
            case 0, 1, 2, 3 -> process.acquire(name, null, options);
            case 4, 5 -> process.acquire(name, Duration.ZERO, options);
            case 6, 7, 8 -> process.acquire(name, Duration.ofMillis(random.nextInt(2_500)), options);
            case 9, 10 -> {
                if (!process.pending.isEmpty()) {
                    process.giveUp(process.pending.get(random.nextInt(process.pending.size())));
                }
            }
            case 11 -> {
                if (random.nextBoolean()) {
                    process.pause();
                    clock.schedule(Duration.ofMillis(random.nextInt(6_000)), process::resume);
                }
            }
            case 12 -> {
                if (random.nextInt(6) == 0) {
                    process.close();
                    processes.set(slot, new SimProcess(this, processIds++));
                    closing.add(process);
                }
            }
            default -> {
                if (random.nextInt(3) == 0) {
                    store.delete(name);
                }
            }
        }
    }

    private final List<SimProcess> closing = new ArrayList<>();

    private void scheduleOutage() {
        clock.schedule(Duration.ofMillis(500 + random.nextInt(6_000)), () -> {
            if (chaos) {
                outage = true;
                clock.schedule(Duration.ofMillis(random.nextInt(5_000)), () -> outage = false);
                scheduleOutage();
            }
        });
    }

    /** Ends all faults, and checks that all operations end and leave nothing behind (S8, S17). */
    private void recoverAndCheck() {
        chaos = false;
        outage = false;
        healthySince = now();
        for (SimProcess process : processes) {
            if (process.paused) {
                process.resume();
            }
        }
        for (SimProcess process : processes) {
            List.copyOf(process.pending).forEach(process::giveUp);
            List.copyOf(process.leases).forEach(process::release);
        }
        // Late requests arrive within 3 s. A cleanup gives up its session after one lease duration.
        run(Duration.ofSeconds(4).plus(lease).plus(REQUEST_TIMEOUT));
        checkStoreIsEmpty("one lease duration after the last request");
        for (SimProcess process : processes) {
            for (SimProcess.Held held : process.leases) {
                if (!held.released && held.announced != 1) {
                    violated("S07: a loss was announced " + held.announced + " times");
                }
            }
            process.leases.clear();
            int kept = sessions ? 1 : 0;
            if (process.client.queues.size() + process.client.holders.size() > 0
                    || process.client.keeper.size() > kept
                    || !process.client.cleanups.isEmpty()) {
                violated("S17: a quiet client has " + process.state());
            }
        }
        for (SimProcess process : closing) {
            if (!process.closed || !process.pending.isEmpty()) {
                violated("S16: close() has not ended, or " + process.pending.size() + " waiters have not failed");
            }
        }
        run(Duration.ZERO);
    }

    private void checkStoreIsEmpty(String when) {
        for (SimStore.Entry entry : store.all()) {
            violated("S08: " + (entry.token == 0 ? "a waiter" : "a grant") + " remains in the store " + when);
        }
        run(Duration.ZERO);
    }

    /**
     * Checks on a healthy connection that a release wakes the next waiter, in queue order (S11, S12). In some schedules all
     * hints are lost, and the waiter must retry after the fallback time.
     */
    private void checkHandOffs() {
        hintsLost = random.nextInt(4) == 0;
        SimProcess holder = processes.get(0);
        SimProcess waiter = processes.get(1);
        holder.acquire("p", null, LockOptions.defaults());
        if (!runUntil(Duration.ofMillis(100), () -> holder.leases.size() == 1)) {
            violated("S09: a free lock was not granted within 100 ms");
        }
        run(Duration.ZERO);
        for (int i = 0; i < 3; i++) {
            waiter.acquire("p", i == 1 ? Duration.ofMinutes(1) : null, LockOptions.defaults());
            run(Duration.ofMillis(10));
        }
        run(lease.multipliedBy(2)); // renewed meanwhile
        holder.release(holder.leases.get(0));
        for (int i = 0; i < 3; i++) {
            int next = i + 1;
            Duration bound = hintsLost ? FALLBACK.multipliedBy(6).dividedBy(5).plusMillis(50) : Duration.ofMillis(50);
            if (!runUntil(bound, () -> waiter.leases.size() == next)) {
                violated("S11: a waiter was not granted within " + bound + " of the release");
                run(Duration.ZERO);
            }
            if (waiter.leases.get(i).acquire.order != waiter.leases.get(0).acquire.order + i) {
                violated("S12: waiters are not granted in their order");
            }
            waiter.release(waiter.leases.get(i));
        }
        run(Duration.ofMillis(100));
        // A waiter that is withdrawn, also while its first request is pending, leaves nothing behind (S10).
        holder.acquire("p", null, LockOptions.defaults());
        run(Duration.ofMillis(50));
        waiter.acquire("p", null, LockOptions.defaults());
        run(Duration.ofMillis(random.nextInt(20)));
        List.copyOf(waiter.pending).forEach(waiter::giveUp);
        holder.release(holder.leases.get(1));
        run(Duration.ofSeconds(1));
        checkStoreIsEmpty("a second after the withdrawal, on a healthy connection");
    }

    private void closeAll() {
        processes.get(0).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", Duration.ofSeconds(9), LockOptions.defaults());
        run(Duration.ofMillis(random.nextInt(30)));
        processes.forEach(SimProcess::close);
        run(Duration.ofSeconds(1));
        checkStoreIsEmpty("a second after close(), on a healthy connection");
        for (SimProcess process : processes) {
            if (!process.closed || !process.pending.isEmpty()) {
                violated("S16: close() has not ended, or " + process.pending.size() + " waiters have not failed");
            }
            for (SimProcess.Held held : process.leases) {
                if (!held.released && held.announced != 1) {
                    violated("S16: a holder was notified " + held.announced + " times of the close");
                }
            }
        }
        run(Duration.ZERO);
    }
}
