// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultFreeConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the contract of every backend on a healthy Redis server. {@link RedisFaultConformanceTest} tests it with faults. */
class RedisConformanceTest extends FaultFreeConformance {
    @RegisterExtension
    static final TestServerExtension<RedisTestServer> SERVER = RedisUnderTest.server();

    @Override
    protected BackendUnderTest backend() {
        return new RedisUnderTest(SERVER);
    }
}
