// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the operator's view finds on real servers. */
@Tag("once")
@Timeout(60)
class RedisDiagnosisTest {
    private static final RedisServerOptions KEEPS =
            RedisServerOptions.defaults().withKeptData();

    private static List<Finding> findings(String url) throws Exception {
        try (LockClient client = Locks.connect(url, RedisTests.LONG_TIMEOUTS)) {
            return findings(client);
        }
    }

    /** All but that the server is open to everyone on this machine, as most of the tests have it. */
    private static List<Finding> findings(LockClient client) throws Exception {
        return client.admin().orElseThrow().diagnose().toCompletableFuture().get(20, TimeUnit.SECONDS).stream()
                .filter(found -> !found.what().contains("open to everyone on this machine"))
                .toList();
    }

    private static void assertFound(List<Finding> findings, Object... severityAndText) {
        assertThat(findings).hasSize(severityAndText.length / 2);
        List<Tuple> expected = new ArrayList<>();
        for (int i = 0; i < severityAndText.length; i += 2) {
            String text = (String) severityAndText[i + 1];
            Finding found = findings.get(i / 2);
            expected.add(Tuple.tuple(severityAndText[i], found.what().contains(text) ? found.what() : text));
        }
        assertThat(findings).extracting(Finding::severity, Finding::what).containsExactlyElementsOf(expected);
    }

    @Test
    void aServerThatKeepsWhatItAcknowledgesHasNoFindings() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(KEEPS)) {
            assertThat(findings(server.url())).isEmpty();
        }
    }

    @Test
    void whatIsSyncedOnceASecondOrNeverIsNamed() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(KEEPS);
                RawRedis redis = server.connect()) {
            redis.call("CONFIG", "SET", "appendfsync", "everysec");
            assertFound(findings(server.url()), Severity.WARNING, "appendfsync is everysec");
            redis.call("CONFIG", "SET", "appendonly", "no");
            assertFound(findings(server.url()), Severity.WARNING, "append-only file is off");
        }
    }

    @Test
    void S19_aServerThatIsOpenToOtherMachinesIsNamed() throws Exception {
        try (RedisTestServer server =
                RedisTestServer.start(KEEPS.withArguments("--bind", "*", "--protected-mode", "no"))) {
            assertFound(findings(server.url()), Severity.WARNING, "without a password: protected-mode is no");
        }
        try (RedisTestServer server = RedisTestServer.start(KEEPS);
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            assertThat(client.admin()
                            .orElseThrow()
                            .diagnose()
                            .toCompletableFuture()
                            .get(20, TimeUnit.SECONDS))
                    .singleElement()
                    .satisfies(found -> assertThat(found.severity()).isEqualTo(Severity.INFO));
        }
    }

    @Test
    void aFullMemoryIsNamed() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(KEEPS);
                RawRedis redis = server.connect();
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            redis.call("CONFIG", "SET", "maxmemory", "1");
            assertFound(findings(client), Severity.ERROR, "the memory is full");
            redis.call("CONFIG", "SET", "maxmemory-policy", "volatile-ttl");
            assertFound(findings(client), Severity.WARNING, "maxmemory-policy is volatile-ttl");
        }
    }

    @Test
    void whatAUserMayNotSeeIsSaid() throws Exception {
        RedisServerOptions users = KEEPS.withUser("blind", "on", ">pw", "~*", "&*", "+@all", "-info", "-config")
                .withUser("short", "on", ">pw", "~*", "&*", "+@all", "-config");
        try (RedisTestServer server = RedisTestServer.start(users)) {
            assertFound(
                    findings("redis://short:pw@127.0.0.1:" + server.port()), Severity.INFO, "appendfsync is not known");
            assertFound(findings("redis://blind:pw@127.0.0.1:" + server.port()), Severity.INFO, "INFO is not allowed");
        }
    }

    @Test
    void replicasThatGrantsDoNotWaitForAreNamedAndMissingOnes() throws Exception {
        try (RedisTestServer master = RedisTestServer.start(KEEPS);
                RawRedis redis = master.connect();
                RedisTestServer replica = RedisTestServer.start(KEEPS.withReplicaOf(master.port()))) {
            Await.until(
                    "the replica is there",
                    RedisTests.SOON,
                    () -> "1".equals(redis.info("replication").get("connected_slaves")));
            assertFound(
                    findings(master.url()),
                    Severity.WARNING,
                    "of replicas 1 are connected, and grants wait for 0",
                    Severity.WARNING,
                    "min-replicas-to-write is 0");
            redis.call("CONFIG", "SET", "min-replicas-to-write", "1");
            assertFound(findings(master.url()), Severity.WARNING, "of replicas 1 are connected, and grants wait for 0");
            assertThat(findings(master.url() + "?waitReplicas=1")).isEmpty();
            try (LockClient client = Locks.connect(master.url() + "?waitReplicas=1", RedisTests.LONG_TIMEOUTS)) {
                replica.kill();
                Await.until(
                        "the replica is missed",
                        RedisTests.SOON,
                        () -> "0".equals(redis.info("replication").get("connected_slaves")));
                assertFound(findings(client), Severity.ERROR, "waitReplicas is 1, and of replicas 0 are connected");
            }
        }
    }

    @Test
    void aMasterThatBecameAReplicaIsNamed() throws Exception {
        try (RedisTestServer other = RedisTestServer.start(KEEPS);
                RedisTestServer server = RedisTestServer.start(KEEPS);
                RawRedis redis = server.connect();
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            redis.call("REPLICAOF", "127.0.0.1", Integer.toString(other.port()));
            assertFound(findings(client), Severity.ERROR, "this server is a replica");
        }
    }

    @Test
    void theClockIsToldAsTheServerHasIt() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            LockAdmin admin = client.admin().orElseThrow();
            Instant before = Instant.now();
            Map<String, Instant> clocks = admin.clocks().get(10, TimeUnit.SECONDS);
            assertThat(clocks).hasSize(1);
            assertThat(clocks.keySet().iterator().next()).contains("127.0.0.1:" + server.port());
            assertThat(clocks.values().iterator().next())
                    .isBetween(before.minus(Duration.ofMillis(2)), Instant.now().plus(Duration.ofMillis(2)));
        }
    }

    /** Once in the life of the JVM: another test may have been first. */
    @Test
    void S19_whatLetsOthersInIsLogged() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(KEEPS)) {
            Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS).close();
        }
        Path log = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
        try (Stream<String> lines = Files.lines(log)) {
            assertThat(lines.filter(line -> line.contains("event=open-store endpoints=redis://")))
                    .singleElement(as(InstanceOfAssertFactories.STRING))
                    .contains("INFO", "no password");
        }
    }
}
