// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Renews many grants by few requests; each has its own deadline. */
final class RedisRenewals {
    /** A script stops the server for all others: so many take it well below a millisecond. */
    private static final int CHUNK = 250;

    private final RedisConnections link;
    private final GrantConfirmation grantCheck;
    private final LockClock clock;
    private final Duration requestTimeout;

    RedisRenewals(RedisConnections link, GrantConfirmation grantCheck, LockClock clock, Duration requestTimeout) {
        this.link = link;
        this.grantCheck = grantCheck;
        this.clock = clock;
        this.requestTimeout = requestTimeout;
    }

    void renew(List<GrantValidity> due) {
        Map<String, List<RedisGrantValidity>> bySlot = new LinkedHashMap<>(); // a script's keys must be in one
        for (RedisGrantValidity mine : GrantValidity.cast(due, RedisGrantValidity.class)) {
            bySlot.computeIfAbsent(mine.keys().counter(), counter -> new ArrayList<>())
                    .add(mine);
        }
        bySlot.values().forEach(all -> {
            RedisNodeClient node = link.nodeOf(all.get(0).keys());
            for (int from = 0; from < all.size(); from += CHUNK) {
                renew(node, all.subList(from, Math.min(all.size(), from + CHUNK)));
            }
        });
    }

    private void renew(RedisNodeClient node, List<RedisGrantValidity> chunk) {
        String[] keys = new String[chunk.size()];
        String[] args = new String[2 * chunk.size()];
        for (int i = 0; i < chunk.size(); i++) {
            RedisGrantValidity mine = chunk.get(i);
            keys[i] = mine.keys().grant();
            mine.renewedAt(node);
            args[2 * i] = mine.attemptId();
            args[2 * i + 1] = String.valueOf(mine.lease().toMillis());
        }
        Duration shortest = chunk.stream()
                .map(RedisGrantValidity::lease)
                .min(Duration::compareTo)
                .orElseThrow();
        MonotonicTime sent = clock.now();
        grantCheck.prepare(node, shortest);
        node.run(RedisScript.RENEW.script(), keys, args, new ReplyHandler() {
            @Override
            public void answered(List<Object> answer) {
                List<RedisGrantValidity> renewed = new ArrayList<>();
                for (int i = 0; i < chunk.size(); i++) {
                    if (answer.get(i).equals(1L)) {
                        renewed.add(chunk.get(i));
                    } else {
                        chunk.get(i).removed("its key was deleted, or has another owner's value");
                    }
                }
                extend(node, renewed, sent, shortest);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                chunk.forEach(mine -> mine.unknown(RedisErrors.of(cause, "renewal", link.endpoints())));
            }
        });
    }

    private void extend(RedisNodeClient node, List<RedisGrantValidity> renewed, MonotonicTime sent, Duration shortest) {
        if (renewed.isEmpty()) {
            return;
        }
        if (grantCheck.isNone(node)) {
            renewed.forEach(mine -> mine.extend(LockClock.deadline(sent, mine.lease())));
            return;
        }
        grantCheck.check(node, sent, sent.plus(requestTimeout), shortest, (countsFrom, failure) -> {
            for (RedisGrantValidity mine : renewed) {
                if (failure == null) {
                    mine.extend(LockClock.deadline(countsFrom, mine.lease()));
                } else {
                    mine.unknown(failure);
                }
            }
        });
    }
}
