// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Rejects a server whose address is configured, not discovered by Sentinel or Cluster, if it is a read-only replica. Where
 * sentinels or a cluster choose the server, a replica only means that a failover is in progress.
 */
public final class ReadOnlyReplicaRefusal {
    private ReadOnlyReplicaRefusal() {}

    /** Fails with a {@link BackendRefusedException} if the server says that it is a read-only replica. */
    public static CompletionStage<@Nullable Void> refuse(RedisNodeClient node) {
        return node.execute("INFO replication", commands -> commands.info("replication"))
                .exceptionally(forbidden -> "") // a user without INFO gets the error from the first acquire
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
