// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks whether a Redis server may evict locks when its memory is full. See rule S1. */
public final class EvictionCheck {
    private static final Logger log = LoggerFactory.getLogger(EvictionCheck.class);
    private static final String NONE = "noeviction";

    private EvictionCheck() {}

    /**
     * Logs a warning if the server may evict locks. Does not wait for the result; called once for each client, at its start.
     */
    public static void warn(RedisNodeClient node) {
        policy(node).whenComplete((policy, failure) -> {
            if (failure != null && node.isClosed()) {
                return;
            }
            if (failure != null) {
                log.info(
                        "event=eviction-unknown endpoints={} hint=\"maxmemory-policy must be {}\" cause=\"{}\"",
                        node.endpoints(),
                        NONE,
                        failure.getMessage());
            } else {
                policy.ifPresent(name -> log.warn(
                        "event=eviction endpoints={} policy={} hint=\"the server may evict locks when its memory is full: set"
                                + " maxmemory-policy {}\"",
                        node.endpoints(),
                        name,
                        NONE));
            }
        });
    }

    /** Returns the server's eviction policy if it endangers locks. */
    static CompletionStage<Optional<String>> policy(RedisNodeClient node) {
        return node.execute("INFO memory", commands -> commands.info("memory"))
                .thenApply(EvictionCheck::dangerousPolicy);
    }

    /** Returns the eviction policy in this reply to INFO if it endangers locks. */
    public static Optional<String> dangerousPolicy(String info) {
        return ServerInfo.field(info, "maxmemory_policy").filter(policy -> !policy.equals(NONE));
    }
}
