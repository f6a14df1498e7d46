// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the contract of every backend on a Redis server that fails, and over links that fail. */
@Tag("long")
class RedisFaultConformanceTest extends FaultConformance {
    @RegisterExtension
    static final TestServerExtension<RedisTestServer> SERVER = RedisUnderTest.server();

    @Override
    protected BackendUnderTest backend() {
        return new RedisUnderTest(SERVER);
    }
}
