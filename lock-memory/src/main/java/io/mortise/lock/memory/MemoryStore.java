// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.Trampoline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A lock store inside this JVM: a first-come-first-served queue per lock, rising tokens, leases that expire by its clock. A
 * release grants to the next waiter in the same step. Thread-safe, has no threads and sets no timers of its own: waiters ask
 * again in time to see a lease end.
 */
public final class MemoryStore {
    /** A waiter that lost its hint asks again after this. */
    private static final Duration FALLBACK = Duration.ofSeconds(5);

    /** A waiter that has not asked for so long is dead, and is passed over. */
    private static final Duration WAITER_TIMEOUT = FALLBACK.multipliedBy(3);

    private static final int SWEEP_FLOOR = 64;

    private final String endpoint;
    private final @Nullable LockClock clock;
    private final AtomicLong tokens;
    private final AtomicLong requests = new AtomicLong();
    private final MemoryFaults faults = new MemoryFaults(this);
    private final Object monitor = new Object();
    private final TreeMap<String, LockQueue> queues = new TreeMap<>(); // guarded by monitor
    private int sweepAt = SWEEP_FLOOR; // guarded by monitor

    /** One lock: its queue exists while somebody holds it, and nobody waits where nobody holds. */
    private static final class LockQueue {
        private MemoryQueueEntry holder;
        private final Set<MemoryQueueEntry> waiting = new LinkedHashSet<>();

        LockQueue(MemoryQueueEntry holder) {
            this.holder = holder;
        }
    }

    /** Which holder is meant. */
    interface Meant {
        boolean holds(MemoryQueueEntry holder);
    }

    /** Runs under the monitor; what it is to send goes into the list. */
    private interface Step<T> {
        T take(List<Runnable> pushes);
    }

    /** A step under the monitor, then the messages that it sends: none of them waits for the store, nor it for them. */
    private <T> T step(Step<T> change) {
        List<Runnable> pushes = new ArrayList<>();
        T answer;
        synchronized (monitor) {
            answer = change.take(pushes);
        }
        if (!pushes.isEmpty()) {
            Trampoline.run(() -> pushes.forEach(Trampoline::run));
        }
        return answer;
    }

    MemoryStore(String endpoint, @Nullable LockClock clock, AtomicLong tokens) {
        this.endpoint = endpoint;
        this.clock = clock;
        this.tokens = tokens;
    }

    /** A private store on the system's clock. Its first token is 1. */
    public static MemoryStore create() {
        return new MemoryStore("memory (private)", null, new AtomicLong());
    }

    /**
     * A private store on the given clock, such as {@link io.mortise.lock.spi.testing.ManualClock}, which its clients share. Its first
     * token is 1.
     */
    public static MemoryStore create(LockClock clock) {
        Objects.requireNonNull(clock, "clock");
        return new MemoryStore("memory (private)", clock, new AtomicLong());
    }

    /**
     * The store that {@code memory:NAME} means. It lives as long as anything refers to it: a client that was opened on it,
     * a lease, the application. After that the garbage collector takes it, with what was left in it; tokens go on rising.
     */
    public static MemoryStore named(String name) {
        Objects.requireNonNull(name, "name");
        return NamedStores.get(name);
    }

    /** Faults that all clients of this store meet. */
    public MemoryFaults faults() {
        return faults;
    }

    /** Faults for one client, to be given to {@link MemoryLocks#connect(MemoryStore, io.mortise.lock.ClientOptions, MemoryFaults)}. */
    public MemoryFaults faultsOfOne() {
        return new MemoryFaults(this);
    }

    /** How many requests to acquire or to release a lock have been executed so far; renewals and reads are not counted. */
    public long requests() {
        return requests.get();
    }

    Optional<LockClock> clock() {
        return Optional.ofNullable(clock);
    }

    MonotonicTime now() {
        return clock == null ? new MonotonicTime(System.nanoTime()) : clock.now();
    }

    String endpoint() {
        return endpoint;
    }

    /** Grants, queues or refuses; asked again, answers its state. */
    AttemptResult ask(MemoryQueueEntry entry) {
        requests.incrementAndGet();
        return step(pushes -> {
            entry.lastAsked = now();
            LockQueue queue = current(entry.name, pushes);
            if (entry.state == MemoryQueueEntry.State.NEW && entry.connection.left) {
                entry.state = MemoryQueueEntry.State.ENDED; // it was under way when its connection ended
            } else if (entry.state == MemoryQueueEntry.State.NEW) {
                if (queue == null) {
                    sweepSometimes(pushes);
                    queues.put(entry.name, new LockQueue(entry));
                    grant(entry);
                } else if (entry.mayWait) {
                    queue.waiting.add(entry);
                    entry.state = MemoryQueueEntry.State.QUEUED;
                }
            }
            return switch (entry.state) {
                case GRANTED -> new AttemptResult.Granted(entry.token, Objects.requireNonNull(entry.grant));
                case NEW, QUEUED -> new AttemptResult.Waiting(untilWorthAsking(entry));
                case OVER -> new AttemptResult.Displaced("the store took the entry away");
                case ENDED -> new AttemptResult.Displaced("withdrawn");
            };
        });
    }

    /** A lost hint must not cost the waiter a grant that was made to it, nor a dead holder's lease be overlooked. */
    private Duration untilWorthAsking(MemoryQueueEntry entry) {
        LockQueue queue = queues.get(entry.name);
        Duration left = queue == null ? Duration.ZERO : now().until(queue.holder.expiresAt);
        Duration pause = Durations.shorter(FALLBACK, Durations.divide(entry.lease, 3));
        return Durations.longer(Duration.ZERO, Durations.shorter(left, pause));
    }

    /** Removes what a entry has. Whether something was there. */
    boolean end(MemoryQueueEntry entry) {
        requests.incrementAndGet();
        return step(pushes -> {
            LockQueue queue = current(entry.name, pushes);
            MemoryQueueEntry.State was = entry.state;
            entry.state = MemoryQueueEntry.State.ENDED; // also defeats an attempt that executes later (S8)
            if (queue != null && was == MemoryQueueEntry.State.QUEUED) {
                return queue.waiting.remove(entry);
            } else if (queue != null && was == MemoryQueueEntry.State.GRANTED) {
                handOff(queue, pushes);
                return true;
            }
            return false;
        });
    }

    /** Extends what is still valid. Returns those that do not. */
    Set<MemoryQueueEntry> renew(List<MemoryQueueEntry> entries) {
        return step(pushes -> {
            Set<MemoryQueueEntry> removed = new LinkedHashSet<>();
            for (MemoryQueueEntry entry : entries) {
                current(entry.name, pushes);
                if (entry.state == MemoryQueueEntry.State.GRANTED) {
                    entry.expiresAt = now().plus(entry.lease);
                } else {
                    removed.add(entry);
                }
            }
            return removed;
        });
    }

    /** A connection ended: its waiters leave; its grants stay until their leases end, as those of a crashed process. */
    void leave(MemoryBackend connection) {
        synchronized (monitor) {
            connection.left = true;
            for (LockQueue queue : queues.values()) {
                queue.waiting.removeIf(entry -> entry.connection == connection);
            }
        }
    }

    /**
     * Takes the lock away from its holder, if that is exactly the one seen.
     *
     * @param reason what the holder is told at once; null: nothing
     */
    boolean take(String name, LockHolder seen, @Nullable LossReason reason) {
        Objects.requireNonNull(seen, "seen");
        return take(name, holder -> holder.holder().equals(seen), reason);
    }

    /** Takes the lock away from whoever holds it. */
    boolean takeFromAnyone(String name, @Nullable LossReason reason) {
        return take(name, holder -> true, reason);
    }

    /** Takes all locks from the holders that are meant. Returns how many. */
    int takeAll(Meant meant, LossReason reason) {
        return step(pushes -> {
            int taken = 0;
            for (String name : List.copyOf(queues.keySet())) {
                taken += take(name, meant, reason, pushes) ? 1 : 0;
            }
            return taken;
        });
    }

    private boolean take(String name, Meant meant, @Nullable LossReason reason) {
        return step(pushes -> take(name, meant, reason, pushes));
    }

    private boolean take(String name, Meant meant, @Nullable LossReason reason, List<Runnable> pushes) {
        LockQueue queue = current(name, pushes);
        if (queue == null || !meant.holds(queue.holder)) {
            return false;
        }
        MemoryQueueEntry holder = queue.holder;
        holder.state = MemoryQueueEntry.State.OVER;
        if (reason != null) {
            pushes.add(holder.lost(reason)); // before the next holder hears of its grant
        }
        handOff(queue, pushes);
        return true;
    }

    LockStatus status(String name) {
        return step(pushes -> status(name, current(name, pushes)));
    }

    /** Locks whose name begins so, in the order of their names, strictly after a name. At most {@code limit}. */
    List<LockStatus> list(String prefix, int limit, String after) {
        return step(pushes -> {
            List<LockStatus> found = new ArrayList<>();
            String from = after.compareTo(prefix) > 0 ? after : prefix;
            for (String name :
                    List.copyOf(queues.tailMap(from, !from.equals(after)).keySet())) {
                if (!name.startsWith(prefix) || found.size() == limit) {
                    break;
                }
                LockQueue queue = current(name, pushes);
                if (queue != null) {
                    found.add(status(name, queue));
                }
            }
            return found;
        });
    }

    private static LockStatus status(String name, @Nullable LockQueue queue) {
        return queue == null
                ? new LockStatus(name, List.of(), List.of())
                : new LockStatus(
                        name,
                        List.of(queue.holder.holder()),
                        queue.waiting.stream().map(MemoryQueueEntry::holder).toList());
    }

    /** The queue after a lease that has ended. */
    private @Nullable LockQueue current(String name, List<Runnable> pushes) {
        LockQueue queue = queues.get(name);
        if (queue != null && !now().isBefore(queue.holder.expiresAt)) {
            queue.holder.state = MemoryQueueEntry.State.OVER;
            handOff(queue, pushes);
        }
        return queues.get(name);
    }

    private void handOff(LockQueue queue, List<Runnable> pushes) {
        String name = queue.holder.name;
        while (!queue.waiting.isEmpty()) {
            MemoryQueueEntry next = queue.waiting.iterator().next();
            queue.waiting.remove(next);
            pushes.add(next.wake());
            if (next.lastAsked.until(now()).compareTo(WAITER_TIMEOUT) <= 0) {
                queue.holder = next;
                grant(next);
                return;
            }
            next.state = MemoryQueueEntry.State.OVER;
        }
        queues.remove(name);
    }

    private void grant(MemoryQueueEntry entry) {
        MonotonicTime now = now();
        entry.state = MemoryQueueEntry.State.GRANTED;
        entry.token = tokens.incrementAndGet();
        entry.expiresAt = now.plus(entry.lease);
        entry.grant = new MemoryQueueEntry.Grant(entry, now);
    }

    /** Drops leases that have ended and that nobody has asked about, at a cost that does not grow per grant (S17). */
    private void sweepSometimes(List<Runnable> pushes) {
        if (queues.size() >= sweepAt) {
            List.copyOf(queues.keySet()).forEach(name -> current(name, pushes));
            sweepAt = Math.max(SWEEP_FLOOR, 2 * queues.size());
        }
    }

    @Override
    public String toString() {
        return endpoint;
    }
}
