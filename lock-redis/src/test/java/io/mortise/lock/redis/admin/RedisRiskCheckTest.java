// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests findings for replies to INFO that a test server cannot easily be made to send. */
class RedisRiskCheckTest {
    private static final String HEALTHY = String.join(
            "\r\n",
            "redis_mode:standalone",
            "role:master",
            "aof_enabled:1",
            "connected_slaves:0",
            "maxmemory_policy:noeviction",
            "maxmemory:0",
            "used_memory:1000",
            "");

    private static Finding only(String info, boolean inCluster) {
        return RedisRiskCheck.ofKeeper(info, Optional.of("always"), 0, inCluster)
                .get(0);
    }

    @Test
    void aHealthyServerHasNoFindings() {
        assertThat(RedisRiskCheck.ofKeeper(HEALTHY, Optional.of("always"), 0, false))
                .isEmpty();
    }

    @Test
    void refusedWritesAreFound() {
        assertThat(only(HEALTHY + "aof_last_write_status:err\r\n", false))
                .satisfies(found -> assertThat(found.severity()).isEqualTo(Severity.ERROR))
                .satisfies(found -> assertThat(found.what()).contains("append-only file cannot be written"));
        assertThat(only(HEALTHY + "rdb_last_bgsave_status:err\r\n", false).what())
                .contains("last snapshot failed");
    }

    /** Before Redis 7 a script could write although too few replicas were connected. */
    @Test
    void S01_minReplicasToWriteOfAnOldServerDoesNotCount() {
        String limited = HEALTHY.replace("connected_slaves:0", "connected_slaves:1") + "min_slaves_good_slaves:1\r\n";
        assertThat(cutOffMaster(limited + "redis_version:6.2.14\r\n")).contains("Redis before 7");
        assertThat(cutOffMaster(limited.replace("min_slaves_good_slaves:1", "") + "redis_version:6.2.14\r\n"))
                .as("without the setting, which would not help")
                .contains("Redis before 7");
        assertThat(cutOffMaster(limited + "redis_version:7.0.0\r\n")).isEmpty();
        assertThat(cutOffMaster(limited + "redis_version:unknown\r\n")).isEmpty();
    }

    private static String cutOffMaster(String info) {
        return RedisRiskCheck.ofKeeper(info, Optional.of("always"), 0, false).stream()
                .map(Finding::what)
                .filter(what -> what.contains("that is cut off continues"))
                .collect(Collectors.joining());
    }

    @Test
    void aNodeOfAClusterIsFoundWithoutAClusterClient() {
        String node = HEALTHY.replace("standalone", "cluster");
        assertThat(only(node, false).remedy()).contains("redis-cluster://");
        assertThat(RedisRiskCheck.ofKeeper(node, Optional.of("always"), 0, true))
                .isEmpty();
    }
}
