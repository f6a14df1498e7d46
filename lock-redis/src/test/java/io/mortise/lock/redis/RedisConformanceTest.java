// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.HealthyConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of every backend, kept on a Redis server; its other half is {@link RedisFaultConformanceTest}. */
class RedisConformanceTest extends HealthyConformance {
    @RegisterExtension
    static final TestServerExtension<RedisTestServer> SERVER = RedisUnderTest.server();

    @Override
    protected BackendUnderTest backend() {
        return new RedisUnderTest(SERVER);
    }
}
