// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Renews many grants with few batched requests. Each grant keeps its own deadline. */
final class RedisRenewals {
    /** The largest batch. A script blocks the server for all other clients; this many take well below a millisecond. */
    private static final int CHUNK = 250;

    private final RedisConnectionRouter connections;
    private final GrantConfirmation confirmation;
    private final LockClock clock;
    private final Duration requestTimeout;

    RedisRenewals(
            RedisConnectionRouter connections,
            GrantConfirmation confirmation,
            LockClock clock,
            Duration requestTimeout) {
        this.connections = connections;
        this.confirmation = confirmation;
        this.clock = clock;
        this.requestTimeout = requestTimeout;
    }

    void renew(List<GrantValidity> due) {
        Map<String, List<RedisGrantValidity>> bySlot = new LinkedHashMap<>(); // a script's keys must be in one slot
        for (RedisGrantValidity grant : GrantValidity.cast(due, RedisGrantValidity.class)) {
            bySlot.computeIfAbsent(grant.keys().counter(), counter -> new ArrayList<>())
                    .add(grant);
        }
        bySlot.values().forEach(all -> {
            RedisNodeClient node = connections.nodeOf(all.get(0).keys());
            for (int from = 0; from < all.size(); from += CHUNK) {
                renew(node, all.subList(from, Math.min(all.size(), from + CHUNK)));
            }
        });
    }

    private void renew(RedisNodeClient node, List<RedisGrantValidity> chunk) {
        String[] keys = new String[chunk.size()];
        String[] args = new String[2 * chunk.size()];
        for (int i = 0; i < chunk.size(); i++) {
            RedisGrantValidity grant = chunk.get(i);
            keys[i] = grant.keys().grant();
            grant.renewedAt(node);
            args[2 * i] = grant.attemptId();
            args[2 * i + 1] = String.valueOf(grant.lease().toMillis());
        }
        Duration shortest = chunk.stream()
                .map(RedisGrantValidity::lease)
                .min(Duration::compareTo)
                .orElseThrow();
        MonotonicInstant sent = clock.now();
        confirmation.prepare(node, shortest);
        node.run(RedisLockScript.RENEW.script(), keys, args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> reply) {
                List<RedisGrantValidity> renewed = new ArrayList<>();
                for (int i = 0; i < chunk.size(); i++) {
                    if (reply.get(i).equals(1L)) {
                        renewed.add(chunk.get(i));
                    } else {
                        chunk.get(i).removed("its key was deleted, or has another owner's value");
                    }
                }
                extend(node, node.epoch(), renewed, sent, shortest);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                chunk.forEach(grant -> grant.renewalUnknown(RedisErrors.of(cause, "renewal", connections.endpoints())));
            }
        });
    }

    private void extend(
            RedisNodeClient node,
            int epoch,
            List<RedisGrantValidity> renewed,
            MonotonicInstant sent,
            Duration shortest) {
        if (renewed.isEmpty()) {
            return;
        }
        if (confirmation.isUnneeded(node)) {
            renewed.forEach(grant -> grant.extend(LockClock.deadline(sent, grant.lease())));
            return;
        }
        confirmation.check(node, epoch, sent, sent.plus(requestTimeout), shortest, (countsFrom, failure) -> {
            for (RedisGrantValidity grant : renewed) {
                if (failure == null) {
                    grant.extend(LockClock.deadline(countsFrom, grant.lease()));
                } else {
                    grant.renewalUnknown(failure);
                }
            }
        });
    }
}
