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
 * The contenders of this client by attempt id, to which messages are dispatched. One that is not here has nothing in the store
 * any more, as far as this client knows.
 */
public final class ContenderRegistry<T extends ContenderRegistry.Owner> {
    /** Whom a message is for. */
    public interface Owner {
        /** It is to ask again. Returns at once. */
        void wake();
    }

    private static final int AT_ONCE = 256;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final LockClock clock;
    private final Map<String, T> contenders = new ConcurrentHashMap<>();

    /** An empty one. */
    public ContenderRegistry(LockClock clock) {
        this.clock = clock;
    }

    /** Messages are for it from now on. */
    public void add(String attemptId, T contender) {
        contenders.put(attemptId, contender);
    }

    /** No longer. */
    public void remove(String attemptId) {
        contenders.remove(attemptId);
    }

    /** Whose it is. */
    public Optional<T> find(String attemptId) {
        return Optional.ofNullable(contenders.get(attemptId));
    }

    /** How many may stand in the queue or hold. */
    public int size() {
        return contenders.size();
    }

    /** What was published while nobody listened is lost: each that waits asks again. A crowd is spread over time. */
    public void wakeAll(Predicate<T> whom) {
        List<T> all = new ArrayList<>();
        for (T contender : contenders.values()) {
            if (whom.test(contender)) {
                all.add(contender);
            }
        }
        for (int from = 0; from < all.size(); from += AT_ONCE) {
            List<T> some = all.subList(from, Math.min(all.size(), from + AT_ONCE));
            if (from == 0) {
                some.forEach(Owner::wake);
            } else {
                clock.schedule(PAUSE.multipliedBy(from / AT_ONCE), () -> some.forEach(Owner::wake));
            }
        }
    }
}
