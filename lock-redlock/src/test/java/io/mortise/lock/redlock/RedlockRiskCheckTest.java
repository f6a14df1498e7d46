// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.redlock.admin.RedlockRiskCheck;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that {@link RedlockRiskCheck} reports replicas and an even number of masters. */
@Tag("once")
class RedlockRiskCheckTest {
    private static List<Finding> findings(LockClient client) throws Exception {
        return client.admin().orElseThrow().diagnose().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void mastersWithReplicasAndClocksAreReported() throws Exception {
        try (RedisTestMasters masters = RedisTestMasters.start(3);
                LockClient client = Locks.connect(
                        masters.url() + "?lease=1s&testOnlyNewMasters=true",
                        ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40)))) {
            FiveMastersTest.awaitAllVote(client);
            assertThat(logged("event=open-store endpoints=redlock://")).contains("INFO", "no password");
            assertThat(findings(client))
                    .singleElement()
                    .satisfies(found -> assertThat(found.what()).contains("open to everyone on this machine"));
            assertThat(client.admin()
                            .orElseThrow()
                            .clocks()
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS))
                    .hasSize(3);
            int port = masters.get(1).port();
            try (RedisTestServer replica =
                    RedisTestServer.start(RedisServerOptions.defaults().withReplicaOf(port))) {
                assertThat(replica.isAlive()).isTrue();
                Await.until(
                        "the replica is reported",
                        Duration.ofSeconds(20),
                        () -> findings(client).stream()
                                .anyMatch(found -> found.what().contains(":" + port + ": it has replicas")));
            }
        }
    }

    /** Returns the matching log lines of the whole JVM, since the event is logged once and perhaps by an earlier test. */
    private static String logged(String text) throws IOException {
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(text)).collect(Collectors.joining("\n"));
        }
    }

    @Test
    void evenNumberOfMastersIsReported() {
        assertThat(RedlockRiskCheck.ofMasterCount(5)).isEmpty();
        assertThat(RedlockRiskCheck.ofMasterCount(4).get(0).what()).contains("4 masters", "than 3");
    }
}
