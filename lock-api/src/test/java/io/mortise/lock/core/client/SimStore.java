// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The simulated store, which executes each request atomically when it arrives, and whose clock drifts. */
final class SimStore {
    /** An entry in the queue of one lock; it is a grant if it has a token other than zero. */
    static final class Entry {
        final String name;
        final String attempt;
        final SimBackend client;
        final long session;
        final Duration lease;
        long token;
        long expiresAt;

        Entry(String name, String attempt, SimBackend client, long session, Duration lease) {
            this.name = name;
            this.attempt = attempt;
            this.client = client;
            this.session = session;
            this.lease = lease;
        }
    }

    /** The reason why an entry was removed. */
    enum Removal {
        OWN_END,
        FOREIGN_END,
        EXPIRED,
        OPERATOR,
        SESSION_ENDED
    }

    /** The reply to an acquire request. */
    record AcquireReply(boolean sessionEnded, long token) {
        static final AcquireReply BUSY = new AcquireReply(false, 0);
        static final AcquireReply SESSION_ENDED = new AcquireReply(true, 0);
    }

    final Map<String, List<Entry>> queues = new HashMap<>();
    final Map<String, Removal> removed = new HashMap<>();
    /** The attempts that an operator removed, even if a late request has added them to the queue again. */
    final Set<String> deleted = new HashSet<>();

    final Map<String, Long> grantOrder = new HashMap<>();
    private final Map<Long, Long> sessions = new LinkedHashMap<>(); // id to expiry
    private final Set<String> withdrawn = new HashSet<>();
    private final Map<String, Set<SimBackend>> listeners = new HashMap<>();
    private final SimWorld world;
    private final double rate;
    private long counter;
    private long grants;
    private long lastSession;

    SimStore(SimWorld world, double rate) {
        this.world = world;
        this.rate = rate;
    }

    long openSession(Duration lease) {
        long id = ++lastSession;
        touch(id, lease);
        return id;
    }

    private void touch(long session, Duration lease) {
        long expiry = world.now() + inStoreTime(lease);
        sessions.put(session, expiry);
        world.clock.schedule(Duration.ofNanos(expiry - world.now()), () -> {
            Long current = sessions.get(session);
            if (current != null && current <= world.now()) {
                endSession(session);
            }
        });
    }

    void endSession(long session) {
        if (sessions.remove(session) != null) {
            for (Entry entry : all()) {
                if (entry.session == session) {
                    remove(entry, Removal.SESSION_ENDED);
                }
            }
        }
    }

    boolean renewSession(long session, Duration lease) {
        if (!sessions.containsKey(session)) {
            return false;
        }
        touch(session, lease);
        return true;
    }

    AcquireReply acquire(
            String name, String attempt, SimBackend client, long session, Duration lease, boolean mayWait) {
        if (session != 0 && !sessions.containsKey(session)) {
            return AcquireReply.SESSION_ENDED;
        }
        if (withdrawn.contains(attempt)) {
            return AcquireReply.BUSY;
        }
        Entry mine = find(name, attempt);
        if (mine == null) {
            List<Entry> queue = queues.computeIfAbsent(name, n -> new ArrayList<>());
            if (!queue.isEmpty() && (!world.queuing || !mayWait)) {
                listeners.computeIfAbsent(name, n -> new HashSet<>()).add(client);
                return AcquireReply.BUSY;
            }
            mine = new Entry(name, attempt, client, session, lease);
            removed.remove(attempt);
            queue.add(mine);
        }
        expireAfter(mine, lease);
        promote(name);
        return mine.token == 0 ? AcquireReply.BUSY : new AcquireReply(false, mine.token);
    }

    boolean renew(String name, String attempt, SimBackend client, Duration lease) {
        Entry entry = find(name, attempt);
        if (entry == null && world.fault == SimFault.RENEWAL_RESURRECTS) {
            List<Entry> queue = queues.computeIfAbsent(name, n -> new ArrayList<>());
            if (queue.isEmpty()) {
                entry = new Entry(name, attempt, client, 0, lease);
                queue.add(entry);
                promote(name);
            }
        }
        if (entry == null || entry.token == 0) {
            return false;
        }
        expireAfter(entry, lease);
        return true;
    }

    boolean end(String name, String attempt) {
        if (world.fault != SimFault.LATE_REQUEST_SERVED) {
            withdrawn.add(attempt);
        }
        Entry entry = find(name, attempt);
        if (world.fault == SimFault.WITHDRAWAL_NOT_DONE && entry != null && entry.token == 0) {
            return true;
        }
        if (world.fault == SimFault.RELEASE_REMOVES_HOLDER && entry == null) {
            List<Entry> queue = queues.getOrDefault(name, List.of());
            if (!queue.isEmpty()) {
                remove(queue.get(0), Removal.FOREIGN_END);
                return true;
            }
        }
        if (entry == null) {
            return false;
        }
        remove(entry, Removal.OWN_END);
        return true;
    }

    /** Removes the grant of a lock, as an operator does. */
    void delete(String name) {
        List<Entry> queue = queues.getOrDefault(name, List.of());
        if (!queue.isEmpty() && queue.get(0).token != 0) {
            Entry entry = queue.get(0);
            deleted.add(entry.attempt);
            remove(entry, Removal.OPERATOR);
            world.push(entry.client, () -> entry.client.deleted(entry.attempt), world.random.nextInt(4) == 0);
        }
    }

    private void expireAfter(Entry entry, Duration lease) {
        if (entry.session != 0) {
            return;
        }
        entry.expiresAt = world.now() + inStoreTime(lease);
        world.clock.schedule(Duration.ofNanos(entry.expiresAt - world.now()), () -> {
            if (entry.expiresAt <= world.now()
                    && queues.getOrDefault(entry.name, List.of()).contains(entry)) {
                remove(entry, Removal.EXPIRED);
            }
        });
    }

    private long inStoreTime(Duration lease) {
        double nanos = lease.toNanos() * rate;
        return (long) (world.fault == SimFault.EXPIRES_EARLY ? nanos / 2 : nanos);
    }

    private void remove(Entry entry, Removal why) {
        removed.put(entry.attempt, why);
        List<Entry> queue = queues.get(entry.name);
        boolean held = entry.token != 0;
        if (queue != null) {
            queue.remove(entry);
            if (queue.isEmpty()) {
                queues.remove(entry.name);
            }
        }
        promote(entry.name);
        if (held) {
            Entry next = holder(entry.name);
            if (next != null) {
                hint(next.client, () -> next.client.wake(next.name, next.attempt));
            }
            Set<SimBackend> notified = listeners.remove(entry.name);
            if (notified != null) {
                for (SimBackend client : world.ordered(notified)) {
                    hint(client, () -> client.wake(entry.name, null));
                }
            }
        }
    }

    private void hint(SimBackend client, Runnable hint) {
        if (world.fault != SimFault.NO_HINT_NO_FALLBACK) {
            world.push(client, hint, false);
            if (world.chaos && world.random.nextInt(10) == 0) {
                world.push(client, hint, false);
            }
        }
    }

    private void promote(String name) {
        List<Entry> queue = queues.get(name);
        if (queue == null || queue.isEmpty() || queue.stream().anyMatch(e -> e.token != 0)) {
            return;
        }
        if (world.fault == SimFault.QUEUE_BACKWARDS) {
            queue.add(0, queue.remove(queue.size() - 1));
        }
        Entry first = queue.get(0);
        grants++;
        if (world.fault != SimFault.TOKEN_REPEATS || grants % 2 == 0) {
            counter++;
        }
        first.token = counter;
        expireAfter(first, first.lease);
        grantOrder.put(first.attempt, grants);
        world.granted(first);
    }

    @Nullable
    Entry holder(String name) {
        return queues.getOrDefault(name, List.of()).stream()
                .filter(e -> e.token != 0)
                .findFirst()
                .orElse(null);
    }

    List<Entry> all() {
        return queues.values().stream().flatMap(List::stream).toList();
    }

    private @Nullable Entry find(String name, String attempt) {
        return queues.getOrDefault(name, List.of()).stream()
                .filter(e -> e.attempt.equals(attempt))
                .findFirst()
                .orElse(null);
    }
}
