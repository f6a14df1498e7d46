// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.proxy.ClusterLinks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Tests the contract of every backend on a Redis Cluster over links that fail. Each client reaches each node over its own
 * link: an application-supplied Lettuce client maps the nodes' addresses to the links.
 */
@Tag("once")
@Tag("long")
class ClusterFaultConformanceTest extends FaultConformance {
    private static RedisTestCluster cluster;

    @BeforeAll
    static void startCluster() throws InterruptedException {
        cluster = RedisTestCluster.start(RedisServerOptions.defaults().withKeptData());
        OnePrefix warm = new OnePrefix("warm:"); // opening the first client of a JVM can take longer than a lease
        try (LockClient client = warm.open(RedisTests.LONG_TIMEOUTS)) {
            client.named("x").acquire().release();
        } finally {
            warm.close();
        }
    }

    @AfterAll
    static void stopCluster() {
        cluster.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return new OnePrefix("conformance-" + UUID.randomUUID() + ":");
    }

    /** The links of one client, and an application-supplied Lettuce client that uses them. */
    private static final class MappedLinks extends ClusterLinks {
        private final ClientResources resources = ClientResources.builder()
                .socketAddressResolver(MappingSocketAddressResolver.create((HostAndPort address) -> HostAndPort.of(
                        "127.0.0.1", to("127.0.0.1:" + address.getPort()).port())))
                .build();
        private volatile @Nullable RedisClusterClient client;
        private volatile String clientId = "";

        MappedLinks() {
            super(List.of(cluster.addresses().split(",", -1)));
        }

        RedisClusterClient client(Duration requestTimeout) {
            RedisURI first = RedisURI.create("127.0.0.1", cluster.nodes().get(0).port());
            first.setTimeout(requestTimeout);
            RedisClusterClient created = RedisClusterClient.create(resources, first);
            created.setOptions(
                    ClusterClientOptions.builder(ManagedRedisClient.clientOptions(Optional.empty(), requestTimeout))
                            .build());
            client = created;
            return created;
        }

        @Override
        public void close() {
            RedisClusterClient created = client;
            if (created != null) {
                created.shutdown(0, 2, TimeUnit.SECONDS);
            }
            resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
            super.close();
        }
    }

    private static final class OnePrefix extends LinkedBackendUnderTest<MappedLinks> {
        private final String prefix;

        OnePrefix(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public String description() {
            return "Redis Cluster";
        }

        @Override
        protected MappedLinks newLink() {
            return new MappedLinks();
        }

        @Override
        protected LockClient connect(MappedLinks link, ClientOptions options) {
            return BackendClients.open(
                    context -> {
                        link.clientId = context.clientId();
                        return RedisBackend.open(
                                RedisOptions.using(link.client(options.requestTimeout()))
                                        .prefix(prefix),
                                context);
                    },
                    options);
        }

        @Override
        public Optional<String> url() {
            return Optional.of("redis-cluster://" + cluster.addresses() + "?prefix=" + prefix + "&lease="
                    + lease().toSeconds() + "s");
        }

        @Override
        public OptionalLong requests() {
            return OptionalLong.of(RedisTests.scriptsButRenewals(cluster));
        }

        @Override
        public void expireSession(LockClient client) {
            for (RedisTestServer node : cluster.nodes().subList(0, 3)) {
                try (RawRedis redis = node.connect()) {
                    redis.expireGrants(prefix, link(client).clientId);
                }
            }
        }

        @Override
        public void deleteGrant(String lockName) {
            RedisKeyLayout.OfLock keys = RedisKeyLayout.clustered(prefix).of(new LockName(lockName));
            try (RawRedis redis = cluster.masterOf(keys.slot()).connect()) {
                redis.call("DEL", keys.grant());
            }
        }

        @Override
        public void stopServer() {
            cluster.nodes().forEach(RedisTestServer::stop);
        }

        @Override
        public void startServer() {
            cluster.nodes().forEach(RedisTestServer::restart);
            cluster.masterOf(0);
        }

        /** The application-supplied client has its own threads, which outlive the lock client. */
        @Override
        public boolean isServerThread(Thread thread) {
            return !thread.getName().startsWith("mortise-");
        }
    }
}
