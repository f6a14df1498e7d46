// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Maps attempt ids to the contenders of one client, so that messages can be dispatched to them. As far as the client knows, a
 * contender that is not in this map has neither a grant nor a queue entry.
 */
public final class ContenderRegistry<T extends ContenderRegistry.Owner> {
    /** A contender that messages can wake. */
    public interface Owner {
        /** Makes the contender retry. Returns at once. */
        void wake();
    }

    private static final int BATCH = 256;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final LockClock clock;
    private final Map<String, T> contenders = new ConcurrentHashMap<>();

    /** Creates an empty registry. */
    public ContenderRegistry(LockClock clock) {
        this.clock = clock;
    }

    /** Adds a contender, which receives messages from now on. */
    public void add(String attemptId, T contender) {
        contenders.put(attemptId, contender);
    }

    /** Removes the contender with this attempt id. */
    public void remove(String attemptId) {
        contenders.remove(attemptId);
    }

    /** Returns the contender with this attempt id, if there is one. */
    public Optional<T> find(String attemptId) {
        return Optional.ofNullable(contenders.get(attemptId));
    }

    /** Returns the number of contenders, which may be queued or hold a lock. */
    public int size() {
        return contenders.size();
    }

    /**
     * Wakes all contenders that match, because messages were lost while the client was not subscribed. Many contenders are
     * woken in batches, one after the other.
     */
    public void wakeAll(Predicate<T> matching) {
        List<T> all = new ArrayList<>();
        for (T contender : contenders.values()) {
            if (matching.test(contender)) {
                all.add(contender);
            }
        }
        for (int from = 0; from < all.size(); from += BATCH) {
            List<T> batch = all.subList(from, Math.min(all.size(), from + BATCH));
            if (from == 0) {
                batch.forEach(Owner::wake);
            } else {
                clock.schedule(PAUSE.multipliedBy(from / BATCH), () -> batch.forEach(Owner::wake));
            }
        }
    }
}
