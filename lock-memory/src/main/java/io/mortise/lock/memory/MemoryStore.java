// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
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
 * An in-memory lock store with fencing tokens and leases that expire.
 *
 * <p>Each lock has a first-in-first-out queue. A release grants the lock to the next waiter in the same step. The store has no
 * threads and sets no timers: a lease ends with the first request after its expiry, and waiters retry in time to notice it.
 * Thread-safe.
 */
public final class MemoryStore {
    /** The time after which a waiter whose hint was lost retries. */
    private static final Duration FALLBACK = Duration.ofSeconds(5);

    /** The time without an attempt after which a waiter counts as dead and is skipped. */
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

    /** The holder and the waiters of one lock. It exists only while the lock is held. */
    private static final class LockQueue {
        private MemoryStoredContender holder;
        private final Set<MemoryStoredContender> waiting = new LinkedHashSet<>();

        LockQueue(MemoryStoredContender holder) {
            this.holder = holder;
        }
    }

    /** Selects holders by a condition. */
    interface HolderFilter {
        boolean matches(MemoryStoredContender holder);
    }

    /** A change that runs under the monitor, and adds the messages to send to the list. */
    private interface Change<T> {
        T apply(List<Runnable> messages);
    }

    /** Applies a change under the monitor, and sends its messages outside it, so that neither waits for the other. */
    private <T> T apply(Change<T> change) {
        List<Runnable> messages = new ArrayList<>();
        T result;
        synchronized (monitor) {
            result = change.apply(messages);
        }
        if (!messages.isEmpty()) {
            Trampoline.run(() -> messages.forEach(Trampoline::run));
        }
        return result;
    }

    MemoryStore(String endpoint, @Nullable LockClock clock, AtomicLong tokens) {
        this.endpoint = endpoint;
        this.clock = clock;
        this.tokens = tokens;
    }

    /** Creates a private store that uses the monotonic clock of the JVM. Its first fencing token is 1. */
    public static MemoryStore create() {
        return new MemoryStore("memory (private)", null, new AtomicLong());
    }

    /**
     * A private store on the given clock, such as {@link io.mortise.lock.spi.testing.ManualClock}, which its clients share. Its
     * first token is 1.
     */
    public static MemoryStore create(LockClock clock) {
        Objects.requireNonNull(clock, "clock");
        return new MemoryStore("memory (private)", clock, new AtomicLong());
    }

    /**
     * Returns the store for the URL {@code memory:NAME}, and creates it if necessary. It exists while a client, a lease or the
     * application refers to it; then the garbage collector removes it with its contents. Even so, the tokens of named stores
     * always increase.
     */
    public static MemoryStore named(String name) {
        Objects.requireNonNull(name, "name");
        return NamedStores.get(name);
    }

    /** Returns the faults that affect all clients of this store. */
    public MemoryFaults faults() {
        return faults;
    }

    /**
     * Creates new faults that affect a single client, for
     * {@link MemoryLocks#connect(MemoryStore, io.mortise.lock.ClientOptions, MemoryFaults)}.
     */
    public MemoryFaults newClientFaults() {
        return new MemoryFaults(this);
    }

    /** Returns how many requests to acquire or release a lock were executed. Renewals and reads are not counted. */
    public long requestCount() {
        return requests.get();
    }

    Optional<LockClock> clock() {
        return Optional.ofNullable(clock);
    }

    MonotonicInstant now() {
        return clock == null ? new MonotonicInstant(System.nanoTime()) : clock.now();
    }

    String endpoint() {
        return endpoint;
    }

    /** Grants the lock to a new entry, queues it, or reports busy. For an entry that is known, returns its state. */
    AttemptResult attempt(MemoryStoredContender entry) {
        requests.incrementAndGet();
        return apply(messages -> {
            entry.lastAttempt = now();
            LockQueue queue = current(entry.name, messages);
            if (entry.state == MemoryStoredContender.State.NEW && entry.connection.disconnected) {
                entry.state =
                        MemoryStoredContender.State.ENDED; // the connection ended while the request was on its way
            } else if (entry.state == MemoryStoredContender.State.NEW) {
                if (queue == null) {
                    sweepSometimes(messages);
                    queues.put(entry.name, new LockQueue(entry));
                    grant(entry);
                } else if (entry.mayWait) {
                    queue.waiting.add(entry);
                    entry.state = MemoryStoredContender.State.QUEUED;
                }
            }
            return switch (entry.state) {
                case GRANTED -> new AttemptResult.Granted(entry.token, Objects.requireNonNull(entry.grant));
                case NEW, QUEUED -> new AttemptResult.Waiting(retryAfter(entry));
                case REMOVED -> new AttemptResult.Displaced("the store removed the entry");
                case RELEASED_LATER, ENDED -> new AttemptResult.Displaced("withdrawn");
            };
        });
    }

    /**
     * Returns the fallback time of a waiter: short enough to collect its grant in time if the hint was lost, and to notice the
     * end of a dead holder's lease.
     */
    private Duration retryAfter(MemoryStoredContender entry) {
        LockQueue queue = queues.get(entry.name);
        Duration left = queue == null ? Duration.ZERO : now().until(queue.holder.expiresAt);
        Duration pause = Durations.shorter(FALLBACK, Durations.divide(entry.lease, 3));
        return Durations.longer(Duration.ZERO, Durations.shorter(left, pause));
    }

    /** Releases or withdraws an entry. Returns whether it was granted or queued. */
    boolean end(MemoryStoredContender entry) {
        requests.incrementAndGet();
        return apply(messages -> {
            LockQueue queue = current(entry.name, messages);
            MemoryStoredContender.State was = entry.state;
            entry.state = MemoryStoredContender.State.ENDED; // an attempt that executes later is rejected (S8)
            if (queue != null && was == MemoryStoredContender.State.QUEUED) {
                return queue.waiting.remove(entry);
            } else if (queue != null && was.keepsLock()) {
                handOff(queue, messages);
                return true;
            }
            return false;
        });
    }

    /** Releases an entry, but keeps its lock for the delay. Returns whether it was granted. */
    boolean endAfter(MemoryStoredContender entry, Duration delay) {
        requests.incrementAndGet();
        return apply(messages -> {
            current(entry.name, messages);
            if (!entry.state.keepsLock()) {
                return false;
            }
            MonotonicInstant until = now().plus(delay);
            boolean repeated = entry.state == MemoryStoredContender.State.RELEASED_LATER;
            entry.state = MemoryStoredContender.State.RELEASED_LATER; // a renewal that executes later changes nothing
            entry.expiresAt = repeated ? until.orEarlier(entry.expiresAt) : until;
            return true;
        });
    }

    /** Extends the leases that are still valid. Returns the entries that no longer hold their locks. */
    Set<MemoryStoredContender> renew(List<MemoryStoredContender> entries) {
        return apply(messages -> {
            Set<MemoryStoredContender> removed = new LinkedHashSet<>();
            for (MemoryStoredContender entry : entries) {
                current(entry.name, messages);
                if (entry.state == MemoryStoredContender.State.GRANTED) {
                    entry.expiresAt = now().plus(entry.lease);
                } else {
                    removed.add(entry);
                }
            }
            return removed;
        });
    }

    /** Removes the waiters of a connection that ended. Its grants stay until their leases end, as after a crash. */
    void disconnect(MemoryBackend connection) {
        synchronized (monitor) {
            connection.disconnected = true;
            for (LockQueue queue : queues.values()) {
                queue.waiting.removeIf(entry -> entry.connection == connection);
            }
        }
    }

    /**
     * Removes the grant of a lock, if exactly the given holder has it.
     *
     * @param reason the loss that the holder is notified of immediately; null for no notification
     * @return whether the grant was removed
     */
    boolean removeGrant(String name, LockHolder seen, @Nullable LossReason reason) {
        Objects.requireNonNull(seen, "seen");
        return removeGrant(name, holder -> holder.holder().equals(seen), reason);
    }

    /** Removes the grant of a lock, whichever holder has it. */
    boolean removeAnyGrant(String name, @Nullable LossReason reason) {
        return removeGrant(name, holder -> true, reason);
    }

    /** Removes the grants of all holders that match. Returns how many were removed. */
    int removeGrants(HolderFilter filter, LossReason reason) {
        return apply(messages -> {
            int removed = 0;
            for (String name : List.copyOf(queues.keySet())) {
                removed += removeGrant(name, filter, reason, messages) ? 1 : 0;
            }
            return removed;
        });
    }

    private boolean removeGrant(String name, HolderFilter filter, @Nullable LossReason reason) {
        return apply(messages -> removeGrant(name, filter, reason, messages));
    }

    private boolean removeGrant(
            String name, HolderFilter filter, @Nullable LossReason reason, List<Runnable> messages) {
        LockQueue queue = current(name, messages);
        if (queue == null || !filter.matches(queue.holder)) {
            return false;
        }
        MemoryStoredContender holder = queue.holder;
        holder.state = MemoryStoredContender.State.REMOVED;
        if (reason != null) {
            messages.add(holder.lost(reason)); // sent before the message to the next holder
        }
        handOff(queue, messages);
        return true;
    }

    LockStatus status(String name) {
        return apply(messages -> status(name, current(name, messages)));
    }

    /** Returns at most {@code limit} locks whose names start with the prefix and follow a name, in the order of names. */
    List<LockStatus> list(String prefix, int limit, String after) {
        return apply(messages -> {
            List<LockStatus> found = new ArrayList<>();
            String from = after.compareTo(prefix) > 0 ? after : prefix;
            for (String name :
                    List.copyOf(queues.tailMap(from, !from.equals(after)).keySet())) {
                if (!name.startsWith(prefix) || found.size() == limit) {
                    break;
                }
                LockQueue queue = current(name, messages);
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
                        queue.waiting.stream()
                                .map(MemoryStoredContender::holder)
                                .toList());
    }

    /** Returns the queue of a lock, after it has ended the holder's lease if that has expired. */
    private @Nullable LockQueue current(String name, List<Runnable> messages) {
        LockQueue queue = queues.get(name);
        if (queue != null && !now().isBefore(queue.holder.expiresAt)) {
            queue.holder.state = MemoryStoredContender.State.REMOVED;
            handOff(queue, messages);
        }
        return queues.get(name);
    }

    private void handOff(LockQueue queue, List<Runnable> messages) {
        String name = queue.holder.name;
        while (!queue.waiting.isEmpty()) {
            MemoryStoredContender next = queue.waiting.iterator().next();
            queue.waiting.remove(next);
            messages.add(next.wake());
            if (next.lastAttempt.until(now()).compareTo(WAITER_TIMEOUT) <= 0) {
                queue.holder = next;
                grant(next);
                return;
            }
            next.state = MemoryStoredContender.State.REMOVED;
        }
        queues.remove(name);
    }

    private void grant(MemoryStoredContender entry) {
        MonotonicInstant now = now();
        entry.state = MemoryStoredContender.State.GRANTED;
        entry.token = tokens.incrementAndGet();
        entry.expiresAt = now.plus(entry.lease);
        entry.grant = new MemoryStoredContender.Grant(entry, now);
    }

    /** Removes expired leases of locks that are not requested any more, at an amortized constant cost per grant (S17). */
    private void sweepSometimes(List<Runnable> messages) {
        if (queues.size() >= sweepAt) {
            List.copyOf(queues.keySet()).forEach(name -> current(name, messages));
            sweepAt = Math.max(SWEEP_FLOOR, 2 * queues.size());
        }
    }

    @Override
    public String toString() {
        return endpoint;
    }
}
