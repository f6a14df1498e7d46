// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.TestServers;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisSentinelTestDeployment;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.TestServerExtension;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Tests that the locks use the servers of {@code spring.data.redis}, and which connection counts. */
class LockConnectionsTest {
    private static final String PASSWORD = "s3cret";

    @RegisterExtension
    static final TestServerExtension<RedisTestServer> redis =
            TestServers.redis(RedisServerOptions.defaults().withPassword(PASSWORD));

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataRedisAutoConfiguration.class,
                    LockClientAutoConfiguration.class,
                    LockingAutoConfiguration.class));

    private static int port() {
        return redis.startedServer().port();
    }

    /** Connection details, as {@code @ServiceConnection} and Docker Compose define them. */
    private record Details(
            @Nullable Standalone getStandalone,
            @Nullable Sentinel getSentinel,
            @Nullable Cluster getCluster,
            @Nullable MasterReplica getMasterReplica,
            @Nullable String getPassword)
            implements DataRedisConnectionDetails {
        static Details server(int port) {
            return new Details(Standalone.of("127.0.0.1", port), null, null, null, PASSWORD);
        }

        /** The details that Spring Boot makes of properties name a server also where they name sentinels or a cluster. */
        static Standalone unused() {
            return Standalone.of("127.0.0.1", 1);
        }
    }

    private static List<DataRedisConnectionDetails.Node> nodes(String addresses) {
        return Arrays.stream(addresses.split(","))
                .map(address -> new DataRedisConnectionDetails.Node(
                        address.substring(0, address.lastIndexOf(':')),
                        Integer.parseInt(address.substring(address.lastIndexOf(':') + 1))))
                .toList();
    }

    @Test
    void theConnectionDetailsAreUsed() {
        application
                .withBean(DataRedisConnectionDetails.class, () -> Details.server(port()))
                .withPropertyValues("mortise.namespace=boot:")
                .run(context -> {
                    LockClient client = context.getBean(LockClient.class);
                    try (Lease lease = client.named("details").tryAcquire().orElseThrow();
                            RawRedis raw = RawRedis.connect(port(), PASSWORD)) {
                        assertThat(raw.keys("boot:*")).anyMatch(key -> key.contains("details"));
                        assertThat(lease.isHeld()).isTrue();
                    }
                });
    }

    @Test
    void thePropertiesOfSpringBootAreUsed() {
        application
                .withPropertyValues(
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + port(),
                        "spring.data.redis.password=" + PASSWORD)
                .run(context -> {
                    try (Lease lease = context.getBean(LockClient.class)
                            .named("properties")
                            .tryAcquire()
                            .orElseThrow()) {
                        assertThat(lease.isHeld()).isTrue();
                    }
                });
    }

    /** The server speaks plain text, so a client that uses TLS, as the URL demands, cannot connect. */
    @Test
    void aUrlOfSpringBootWithTlsIsNotOpenedInPlainText() {
        application
                .withPropertyValues(
                        "spring.data.redis.url=rediss://:" + PASSWORD + "@127.0.0.1:" + port(),
                        "mortise.connect-timeout=1s")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void sentinelsAreUsed() {
        try (RedisSentinelTestDeployment deployment = RedisSentinelTestDeployment.start()) {
            DataRedisConnectionDetails.Sentinel sentinel = new DataRedisConnectionDetails.Sentinel() {
                @Override
                public int getDatabase() {
                    return 0;
                }

                @Override
                public String getMaster() {
                    return RedisSentinelTestDeployment.MASTER_NAME;
                }

                @Override
                public List<DataRedisConnectionDetails.Node> getNodes() {
                    return nodes(deployment.addresses());
                }

                @Override
                public @Nullable String getUsername() {
                    return null;
                }

                @Override
                public @Nullable String getPassword() {
                    return null;
                }
            };
            runsOn(new Details(Details.unused(), sentinel, null, null, null), "sentinels");
        }
    }

    @Test
    void aClusterIsUsed() {
        try (RedisTestCluster cluster = RedisTestCluster.start()) {
            runsOn(new Details(Details.unused(), null, () -> nodes(cluster.addresses()), null, null), "cluster");
        }
    }

    private void runsOn(Details details, String name) {
        application.withBean(DataRedisConnectionDetails.class, () -> details).run(context -> {
            try (Lease lease =
                    context.getBean(LockClient.class).named(name).tryAcquire().orElseThrow()) {
                assertThat(lease.isHeld()).isTrue();
            }
        });
    }

    @Test
    void masterAndReplicasWithoutSentinelsAreRefused() {
        application
                .withBean(
                        DataRedisConnectionDetails.class,
                        () -> new Details(
                                Details.unused(),
                                null,
                                null,
                                () -> List.of(new DataRedisConnectionDetails.Node("a", 1)),
                                null))
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("locks need one server, sentinels or a cluster"));
    }

    @Test
    void theUrlTakesPrecedence() {
        application
                .withBean(DataRedisConnectionDetails.class, () -> Details.server(1))
                .withPropertyValues("mortise.url=memory:boot-precedence")
                .run(context -> {
                    try (Lease lease = context.getBean(LockClient.class)
                            .named("a")
                            .tryAcquire()
                            .orElseThrow()) {
                        assertThat(lease.isHeld()).isTrue();
                    }
                });
    }

    @Test
    void severalConnectionsAreNamed() {
        application
                .withBean(DataRedisConnectionDetails.class, () -> Details.server(port()))
                .withBean(
                        Client.class,
                        () -> Client.builder().endpoints("http://127.0.0.1:1").build())
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("the connection of spring.data.redis")
                        .hasMessageContaining("the jetcd Client bean"));
    }

    @Test
    void aConnectionFactoryOfTheApplicationIsNotTakenForThatOfSpringBoot() {
        application
                .withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", port()))
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("no connection of the application was found"));
    }
}
