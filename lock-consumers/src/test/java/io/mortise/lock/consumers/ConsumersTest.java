// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a project which declares Mortise as the README describes can run any combination of backends.
 *
 * <p>See ADR 0036.
 */
@Tag("once")
@Tag("long")
class ConsumersTest {
    private static final String SPRING_BOOT = "org.springframework.boot:spring-boot-dependencies:4.1.0";
    private static final String CURATOR = "org.apache.curator:curator-recipes:5.9.0";
    private static final String ZOOKEEPER = "org.apache.zookeeper:zookeeper:3.9.5";
    private static final String NETTY_BOM = "io.netty:netty-bom:4.2.18.Final";
    private static final Consumer MIXED = Consumer.of("redis").behind(ZOOKEEPER);
    private static final List<String> BACKENDS = List.of("redis", "redlock", "zookeeper", "etcd");

    /** Matches Netty's jars, without those of tcnative, which have their own versions. The group is the version. */
    private static final Pattern NETTY = Pattern.compile("netty-(?!tcnative)[a-z0-9-]+-(4\\.[0-9.]+Final)");

    private static final List<AutoCloseable> servers = new ArrayList<>();
    private static Map<String, String> urls;
    private static ConsumerBuild build;

    /** The backends and jars of the programs that ran: those that resolve to the same jars run once. */
    private static final Set<Map.Entry<Set<String>, Set<String>>> runs = new HashSet<>();

    static List<Consumer> consumers() {
        List<Consumer> all = new ArrayList<>();
        all.add(Consumer.of("memory"));
        for (String first : BACKENDS) {
            all.add(Consumer.of(first));
            for (String second : BACKENDS) {
                if (!first.equals(
                        second)) { // in either order, since Maven may prefer the version of the first dependency
                    all.add(Consumer.of(first, second));
                }
            }
        }
        all.add(Consumer.of("memory", "zookeeper", "etcd", "redlock", "redis"));
        all.add(Consumer.withoutBom("zookeeper", "redis"));
        for (String alone : List.of("redis", "redlock", "etcd")) {
            all.add(Consumer.of(alone).behind(CURATOR));
        }
        all.add(Consumer.of("redis", "zookeeper").behind(ZOOKEEPER).managedBy(NETTY_BOM));
        all.add(Consumer.of("redis").managedBy(SPRING_BOOT));
        all.add(Consumer.of("redis", "redlock", "zookeeper", "etcd").managedBy(SPRING_BOOT));
        return all;
    }

    @BeforeAll
    @Timeout(360)
    static void resolve(@TempDir Path directory) throws Exception {
        List<Consumer> all = new ArrayList<>(consumers());
        all.add(MIXED);
        build = ConsumerBuild.resolve(directory, all);
        RedisTestServer redis = RedisTestServer.start();
        servers.add(redis);
        RedisTestMasters masters = RedisTestMasters.start(3);
        servers.add(masters);
        ZooKeeperTestServer zooKeeper = ZooKeeperTestServer.start();
        servers.add(zooKeeper);
        EtcdTestServer etcd = EtcdTestServer.start();
        servers.add(etcd);
        urls = Map.of(
                "memory",
                "memory:consumers",
                "redis",
                redis.url(),
                "redlock",
                masters.url() + "?testOnlyNewMasters=true",
                "zookeeper",
                "zookeeper://" + zooKeeper.connectString(),
                "etcd",
                etcd.url());
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable server : servers) {
            server.close();
        }
    }

    @ParameterizedTest
    @MethodSource("consumers")
    void aConsumerAcquiresALockOnEachOfItsBackends(Consumer consumer) throws Exception {
        List<String> jars = build.classpath(consumer);
        assertThat(nettyVersions(jars)).as("versions of Netty among %s", jars).hasSizeLessThanOrEqualTo(1);
        if (runs.add(Map.entry(Set.copyOf(consumer.backends()), Set.copyOf(jars)))) {
            ProgramResult program = run(consumer);
            assertThat(program.exitCode()).as(program.output()).isZero();
        }
    }

    /**
     * ZooKeeper is listed first, so Maven takes some of Netty's jars in ZooKeeper's version, which cannot run with Lettuce's.
     */
    @Test
    void S15_incompatibleLibrariesAreReportedAtOnce() throws Exception {
        ProgramResult program = run(MIXED);
        assertThat(program.exitCode()).isNotZero();
        assertThat(program.output())
                .contains("LockConfigurationException", "do not fit together", "netty-handler-4.1", "netty-common-4.2");
        assertThat(program.time()).as("before the connect timeout").isLessThan(ConsumerProgram.CONNECT_TIMEOUT);
    }

    private record ProgramResult(int exitCode, String output, Duration time) {}

    private static ProgramResult run(Consumer consumer) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                testClasses() + File.pathSeparator + String.join(File.pathSeparator, build.classpath(consumer)),
                ConsumerProgram.class.getName()));
        consumer.backends().forEach(backend -> command.add(urls.get(backend)));
        Path output = Files.createTempFile("consumer", ".log");
        long start = System.nanoTime();
        Process program = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(program.waitFor(50, TimeUnit.SECONDS))
                    .as("the program ends")
                    .isTrue();
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            return new ProgramResult(program.exitValue(), Files.readString(output), time);
        } finally {
            program.destroyForcibly();
            Files.delete(output);
        }
    }

    private static Set<String> nettyVersions(List<String> jars) {
        Set<String> versions = new TreeSet<>();
        for (String jar : jars) {
            Matcher netty = NETTY.matcher(Path.of(jar).getFileName().toString());
            if (netty.lookingAt()) {
                versions.add(netty.group(1));
            }
        }
        return versions;
    }

    /** Returns the directory that contains {@link ConsumerProgram}. */
    private static String testClasses() throws Exception {
        return Path.of(ConsumerProgram.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
    }
}
