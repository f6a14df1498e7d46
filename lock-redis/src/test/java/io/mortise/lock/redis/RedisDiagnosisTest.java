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

/** Tests the findings of the diagnosis on real servers. */
@Tag("once")
class RedisDiagnosisTest {
    private static final RedisServerOptions DURABLE =
            RedisServerOptions.defaults().withKeptData();

    private static List<Finding> findings(String url) throws Exception {
        try (LockClient client = Locks.connect(url, RedisTests.LONG_TIMEOUTS)) {
            return findings(client);
        }
    }

    /** Returns all findings but the one that the server is open to everyone on this machine, as in most tests. */
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
    void aDurableServerHasNoFindings() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(DURABLE)) {
            assertThat(findings(server.url())).isEmpty();
        }
    }

    @Test
    void rareOrMissingPersistenceIsFound() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(DURABLE);
                RawRedis redis = server.connect()) {
            redis.call("CONFIG", "SET", "appendfsync", "everysec");
            assertFound(findings(server.url()), Severity.WARNING, "appendfsync is everysec");
            redis.call("CONFIG", "SET", "appendonly", "no");
            assertFound(findings(server.url()), Severity.WARNING, "append-only file is off");
        }
    }

    @Test
    void S19_aServerThatIsOpenToOtherMachinesIsFound() throws Exception {
        try (RedisTestServer server =
                RedisTestServer.start(DURABLE.withArguments("--bind", "*", "--protected-mode", "no"))) {
            assertFound(findings(server.url()), Severity.WARNING, "without a password: protected-mode is no");
        }
        try (RedisTestServer server = RedisTestServer.start(DURABLE);
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
    void aFullMemoryIsFound() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(DURABLE);
                RawRedis redis = server.connect();
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            redis.call("CONFIG", "SET", "maxmemory", "1");
            assertFound(findings(client), Severity.ERROR, "the memory is full");
            redis.call("CONFIG", "SET", "maxmemory-policy", "volatile-ttl");
            assertFound(findings(client), Severity.WARNING, "maxmemory-policy is volatile-ttl");
        }
    }

    @Test
    void missingPermissionsAreFound() throws Exception {
        RedisServerOptions users = DURABLE.withUser("blind", "on", ">pw", "~*", "&*", "+@all", "-info", "-config")
                .withUser("short", "on", ">pw", "~*", "&*", "+@all", "-config");
        try (RedisTestServer server = RedisTestServer.start(users)) {
            assertFound(
                    findings("redis://short:pw@127.0.0.1:" + server.port()), Severity.INFO, "appendfsync is not known");
            assertFound(findings("redis://blind:pw@127.0.0.1:" + server.port()), Severity.INFO, "INFO is not allowed");
        }
    }

    @Test
    void replicasThatGrantsDoNotWaitForAndMissingReplicasAreFound() throws Exception {
        try (RedisTestServer master = RedisTestServer.start(DURABLE);
                RawRedis redis = master.connect();
                RedisTestServer replica = RedisTestServer.start(DURABLE.withReplicaOf(master.port()))) {
            Await.until(
                    "the replica is connected",
                    RedisTests.SOON,
                    () -> "1".equals(redis.info("replication").get("connected_slaves")));
            assertFound(
                    findings(master.url()),
                    Severity.WARNING,
                    "the number of connected replicas is 1, but grants wait for 0",
                    Severity.WARNING,
                    "min-replicas-to-write is 0");
            redis.call("CONFIG", "SET", "min-replicas-to-write", "1");
            assertFound(
                    findings(master.url()),
                    Severity.WARNING,
                    "the number of connected replicas is 1, but grants wait for 0");
            assertThat(findings(master.url() + "?waitReplicas=1")).isEmpty();
            try (LockClient client = Locks.connect(master.url() + "?waitReplicas=1", RedisTests.LONG_TIMEOUTS)) {
                replica.kill();
                Await.until(
                        "the replica is disconnected",
                        RedisTests.SOON,
                        () -> "0".equals(redis.info("replication").get("connected_slaves")));
                assertFound(
                        findings(client),
                        Severity.ERROR,
                        "waitReplicas is 1, but the number of connected replicas is 0");
            }
        }
    }

    @Test
    void aMasterThatBecameAReplicaIsFound() throws Exception {
        try (RedisTestServer other = RedisTestServer.start(DURABLE);
                RedisTestServer server = RedisTestServer.start(DURABLE);
                RawRedis redis = server.connect();
                LockClient client = Locks.connect(server.url(), RedisTests.LONG_TIMEOUTS)) {
            redis.call("REPLICAOF", "127.0.0.1", Integer.toString(other.port()));
            assertFound(findings(client), Severity.ERROR, "this server is a replica");
        }
    }

    @Test
    void theServersClockIsReported() throws Exception {
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

    /** This is logged once in the life of the JVM, perhaps by an earlier test. */
    @Test
    void S19_aServerThatIsOpenToOthersIsLogged() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(DURABLE)) {
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
