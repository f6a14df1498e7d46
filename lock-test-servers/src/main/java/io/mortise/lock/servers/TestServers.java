// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers;

import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.TestServerExtension;

/**
 * Entry point to the test servers: JUnit extensions that provide one server to a test class.
 *
 * <p>Each takes the first that there is: a running server whose URL the system property {@code mortise.test.redis} (or {@code
 * .etcd}) or the environment variable {@code MORTISE_TEST_REDIS} gives; the program on the PATH; a container, if Testcontainers is
 * on the class path and Docker or Podman responds. Otherwise the test class fails with an error that names these ways.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final TestServerExtension<RedisTestServer> redis = TestServers.redis();
 *
 * @Test
 * void test() {
 *     try (LockClient locks = Locks.connect(redis.address())) { … }
 * }
 * }</pre>
 */
public final class TestServers {
    private TestServers() {}

    /** Returns an extension for a Redis server; a server that it starts has the default options. */
    public static TestServerExtension<RedisTestServer> redis() {
        return redis(RedisServerOptions.defaults());
    }

    /** Returns an extension for a Redis server; a server that it starts has these options. */
    public static TestServerExtension<RedisTestServer> redis(RedisServerOptions options) {
        return new TestServerExtension<>("redis", () -> RedisTestServer.start(options), RedisTestServer::url);
    }

    /** Returns an extension for an etcd server; a server that it starts has the default options. */
    public static TestServerExtension<EtcdTestServer> etcd() {
        return etcd(EtcdServerOptions.defaults());
    }

    /** Returns an extension for an etcd server; a server that it starts has these options. */
    public static TestServerExtension<EtcdTestServer> etcd(EtcdServerOptions options) {
        return new TestServerExtension<>("etcd", () -> EtcdTestServer.start(options), EtcdTestServer::url);
    }
}
