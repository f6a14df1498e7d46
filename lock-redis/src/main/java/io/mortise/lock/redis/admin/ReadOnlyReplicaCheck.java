// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Refuses a server that is a read-only replica, where no sentinel or cluster chose it. */
public final class ReadOnlyReplicaCheck {
    private ReadOnlyReplicaCheck() {}

    /** Fails with a {@link BackendRefusedException} if the server says that it is a read-only replica. */
    public static CompletionStage<@Nullable Void> refuse(RedisNodeClient node) {
        return node.ask("INFO replication", commands -> commands.info("replication"))
                .exceptionally(forbidden -> "") // who may not ask hears of it from the first acquire
                .thenApply(info -> {
                    if (ServerInfo.field(info, "role").filter("slave"::equals).isPresent()
                            && ServerInfo.field(info, "slave_read_only")
                                    .filter("0"::equals)
                                    .isEmpty()) {
                        throw new BackendRefusedException(
                                node.endpoints() + " is a read-only replica of " + master(info)
                                        + ", where no lock can be written. Name the master, or use redis-sentinel:// or"
                                        + " redis-cluster://, which find it",
                                null);
                    }
                    return null;
                });
    }

    private static String master(String info) {
        return ServerInfo.field(info, "master_host").orElse("another server")
                + ServerInfo.field(info, "master_port").map(port -> ":" + port).orElse("");
    }
}
