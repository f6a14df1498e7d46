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

/** One schedule: a store, some processes, a bad network, a random workload; each rule is checked at each step. */
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

    void broken(String rule) {
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
        CompletableFuture<T> answer = new CompletableFuture<>();
        int luck = chaos ? random.nextInt(100) : 99;
        if ((outage && luck % 8 != 0) || luck < 3) {
            if (luck % 3 == 0) {
                clock.schedule(
                        delay(),
                        () -> from.deliver(() -> answer.completeExceptionally(SimBackend.refusedConnection())));
            }
            return answer; // lost on the way
        }
        Duration way = luck < 6 ? Duration.ofMillis(random.nextInt(3_000)) : delay();
        boolean answerLost = (outage && chaos) || (luck >= 6 && luck < 10);
        clock.schedule(way, () -> {
            T value = execution.get();
            if (!answerLost) {
                clock.schedule(
                        delay(),
                        () -> from.deliver(() -> {
                            from.lastResponse = now();
                            answer.complete(value);
                        }));
            }
        });
        return answer;
    }

    /** From the store to a client. */
    void push(SimBackend to, Runnable event, boolean lost) {
        boolean dropped = hintsLost || (chaos && (outage || random.nextInt(8) == 0));
        if (!lost && !dropped && !to.closed) {
            Duration way = chaos && random.nextInt(8) == 0 ? Duration.ofMillis(random.nextInt(1_500)) : delay();
            clock.schedule(way, () -> to.process.deliver(event));
        }
    }

    private Duration delay() {
        return Duration.ofNanos(200_000 + random.nextInt(3_000_000));
    }

    boolean alwaysHealthy(long since) {
        return !chaos && healthySince < since;
    }

    // --- what happens ---

    /** The store made a grant: whoever had the lock before has been told, unless its process stands still (S7). */
    void granted(SimStore.Entry entry) {
        for (SimProcess process : processes) {
            for (SimProcess.Held held : process.leases) {
                if (held.acquire.name.equals(entry.name)
                        && !held.lease.ownerId().equals(entry.attempt)
                        && !process.paused
                        && !held.lease.hasEnded()
                        && !excused(held)) {
                    broken(cause(held) + ": the store granted " + entry.name + " anew before its holder was told");
                }
            }
        }
    }

    void delivered(SimProcess process, SimProcess.SimAcquire acquire, HeldLease lease) {
        Long order = store.grantOrder.get(lease.ownerId());
        SimProcess.Held held = new SimProcess.Held(lease, acquire, order == null ? 0 : order);
        if (!owners.add(lease.ownerId())) {
            broken("S04: owner id " + lease.ownerId() + " twice");
        }
        for (SimProcess other : processes) {
            for (SimProcess.Held before : other.leases) {
                if (before.acquire.name.equals(acquire.name)) {
                    boolean rises = before.grantOrder < held.grantOrder
                            ? before.lease.fencingToken() < lease.fencingToken()
                            : before.lease.fencingToken() > lease.fencingToken();
                    if (!rises) {
                        broken("S03: token " + lease.fencingToken() + " does not rise");
                    }
                    boolean sameLine = other == process && !queuing && mayWait(acquire) && mayWait(before.acquire);
                    if (sameLine && (before.acquire.order < acquire.order) != (before.grantOrder < held.grantOrder)) {
                        broken("S12: overtaken in its own process");
                    }
                }
            }
        }
        process.leases.add(held);
        lease.lost().thenAccept(reason -> {
            held.announced++;
            if (held.announced > 1 || held.released) {
                broken("S07: loss announced " + held.announced + " times, released: " + held.released);
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

    /** Outside S1: taken away by hand, and the holder has not heard of it yet. */
    boolean excused(SimProcess.Held held) {
        return store.deleted.contains(held.lease.ownerId());
    }

    /** The rule that is broken when a holder believes and the store does not. */
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
                broken("S06: a grant that was removed is in the store again, and nobody asked for it");
            }
        }
        for (SimProcess process : processes) {
            if (process.paused) {
                continue;
            }
            for (SimProcess.Held held : process.leases) {
                boolean isHeld = held.lease.isHeld();
                if (isHeld && held.seenOver) {
                    broken("S06: isHeld() became true again");
                }
                held.seenOver |= !isHeld;
                if (!isHeld && !held.lease.hasEnded()) {
                    broken("S07: over by the clock, but nobody was told");
                }
                if (isHeld && !excused(held)) {
                    SimStore.Entry holder = store.holder(held.acquire.name);
                    if (holder == null || !holder.attempt.equals(held.lease.ownerId())) {
                        broken(cause(held) + ": isHeld(), but the store has "
                                + (holder == null ? "no holder" : "another holder"));
                    }
                    for (SimProcess other : processes) {
                        for (SimProcess.Held rival : other.leases) {
                            if (rival != held
                                    && !other.paused
                                    && rival.acquire.name.equals(held.acquire.name)
                                    && rival.lease.isHeld()
                                    && !excused(rival)) {
                                broken("S01: two leases of " + held.acquire.name + " are held");
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
            // Counted from the first request without an answer; before it nobody may have asked for a fallback pause.
            long limit = lease.plus(FALLBACK.multipliedBy(6).dividedBy(5))
                    .plus(REQUEST_TIMEOUT)
                    .plusMillis(100)
                    .toNanos();
            if (acquire.maxWait == null && !acquire.paused && silent > limit) {
                broken("S15: waits on after " + silent / 1_000_000 + " ms without a response");
            }
            if (acquire.maxWait != null && !acquire.paused) {
                Duration bound = acquire.maxWait.isZero() ? REQUEST_TIMEOUT : acquire.maxWait;
                if (now() - acquire.started > bound.plusMillis(60).toNanos()) {
                    broken("S09: waits on beyond " + bound);
                }
            }
        }
    }

    /** Runs until the time has passed; each instant with a due timer is a step. */
    private void run(Duration time) {
        runUntil(time, () -> false);
    }

    private boolean runUntil(Duration time, BooleanSupplier done) {
        long end = now() + time.toNanos();
        while (violation == null && !done.getAsBoolean()) {
            Duration next = clock.untilNext().orElse(Duration.ofDays(1));
            if (steps > 500_000) {
                broken("S17: it never comes to rest");
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
            work(i);
        }
        weather();
        run(Duration.ofMillis(5_000 + random.nextInt(5_000)));
        calm();
        promptness();
        closeAll();
    }

    private void work(int slot) {
        clock.schedule(Duration.ofMillis(random.nextInt(500)), () -> {
            if (chaos) {
                SimProcess process = processes.get(slot);
                if (!process.paused && !process.closing) {
                    act(process, slot);
                }
                work(slot);
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

    private void weather() {
        clock.schedule(Duration.ofMillis(500 + random.nextInt(6_000)), () -> {
            if (chaos) {
                outage = true;
                clock.schedule(Duration.ofMillis(random.nextInt(5_000)), () -> outage = false);
                weather();
            }
        });
    }

    /** All is well again: what was begun ends, and nothing of it stays (S8, S17). */
    private void calm() {
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
        // Late requests arrive within 3 s; a cleanup waits a lease, then gives its session up.
        run(Duration.ofSeconds(4).plus(lease).plus(REQUEST_TIMEOUT));
        nothingLeft("a lease duration after the last request");
        for (SimProcess process : processes) {
            for (SimProcess.Held held : process.leases) {
                if (!held.released && held.announced != 1) {
                    broken("S07: a loss was announced " + held.announced + " times");
                }
            }
            process.leases.clear();
            int kept = sessions ? 1 : 0;
            if (process.client.queues.size() + process.client.holders.size() > 0
                    || process.client.keeper.size() > kept
                    || !process.client.cleanups.isEmpty()) {
                broken("S17: a quiet client has " + process.state());
            }
        }
        for (SimProcess process : closing) {
            if (!process.closed || !process.pending.isEmpty()) {
                broken("S16: close() has not ended, or " + process.pending.size() + " waiters have not failed");
            }
        }
        run(Duration.ZERO);
    }

    private void nothingLeft(String when) {
        for (SimStore.Entry entry : store.all()) {
            broken("S08: " + (entry.token == 0 ? "a waiter" : "a grant") + " is left in the store " + when);
        }
        run(Duration.ZERO);
    }

    /** On a healthy connection: a release wakes the next; without hints the fallback does; the order is kept (S11, S12). */
    private void promptness() {
        hintsLost = random.nextInt(4) == 0;
        SimProcess holder = processes.get(0);
        SimProcess waiter = processes.get(1);
        holder.acquire("p", null, LockOptions.defaults());
        if (!runUntil(Duration.ofMillis(100), () -> holder.leases.size() == 1)) {
            broken("S09: a free lock was not granted within 100 ms");
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
                broken("S11: a waiter was not granted within " + bound + " of the release");
                run(Duration.ZERO);
            }
            if (waiter.leases.get(i).acquire.order != waiter.leases.get(0).acquire.order + i) {
                broken("S12: waiters are not granted in their order");
            }
            waiter.release(waiter.leases.get(i));
        }
        run(Duration.ofMillis(100));
        // Withdrawn while it waits, and while its first request is under way: nothing stays (S10).
        holder.acquire("p", null, LockOptions.defaults());
        run(Duration.ofMillis(50));
        waiter.acquire("p", null, LockOptions.defaults());
        run(Duration.ofMillis(random.nextInt(20)));
        List.copyOf(waiter.pending).forEach(waiter::giveUp);
        holder.release(holder.leases.get(1));
        run(Duration.ofSeconds(1));
        nothingLeft("a second after the withdrawal, on a healthy connection");
    }

    private void closeAll() {
        processes.get(0).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", null, LockOptions.defaults());
        processes.get(1).acquire("c", Duration.ofSeconds(9), LockOptions.defaults());
        run(Duration.ofMillis(random.nextInt(30)));
        processes.forEach(SimProcess::close);
        run(Duration.ofSeconds(1));
        nothingLeft("a second after close(), on a healthy connection");
        for (SimProcess process : processes) {
            if (!process.closed || !process.pending.isEmpty()) {
                broken("S16: close() has not ended, or " + process.pending.size() + " waiters have not failed");
            }
            for (SimProcess.Held held : process.leases) {
                if (!held.released && held.announced != 1) {
                    broken("S16: a holder was told " + held.announced + " times of the close");
                }
            }
        }
        run(Duration.ZERO);
    }
}
