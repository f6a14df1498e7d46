// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The tickets of this client that may stand in line or hold, by attempt id: whom messages are for. One that is not here has
 * nothing in the store any more, as far as this client knows.
 */
final class Mailbox {
    private static final int AT_ONCE = 256;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final LockClock clock;
    private final Map<String, RedisTicket> tickets = new ConcurrentHashMap<>();

    Mailbox(LockClock clock) {
        this.clock = clock;
    }

    void add(String attemptId, RedisTicket ticket) {
        tickets.put(attemptId, ticket);
    }

    void remove(String attemptId) {
        tickets.remove(attemptId);
    }

    Optional<RedisTicket> find(String attemptId) {
        return Optional.ofNullable(tickets.get(attemptId));
    }

    int size() {
        return tickets.size();
    }

    /** What was published while nobody listened is lost: each that waits asks again. A crowd is spread over time. */
    void wakeAll(Predicate<RedisTicket> whom) {
        List<RedisTicket> all = new ArrayList<>();
        for (RedisTicket ticket : tickets.values()) {
            if (whom.test(ticket)) {
                all.add(ticket);
            }
        }
        for (int from = 0; from < all.size(); from += AT_ONCE) {
            List<RedisTicket> some = all.subList(from, Math.min(all.size(), from + AT_ONCE));
            if (from == 0) {
                some.forEach(RedisTicket::wake);
            } else {
                clock.schedule(PAUSE.multipliedBy(from / AT_ONCE), () -> some.forEach(RedisTicket::wake));
            }
        }
    }
}
