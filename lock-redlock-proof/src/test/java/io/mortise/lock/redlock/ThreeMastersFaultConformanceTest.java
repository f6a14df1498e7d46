// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.FaultConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the conformance tests with fault injection against Redlock on three masters. */
@Tag("long")
class ThreeMastersFaultConformanceTest extends FaultConformance {
    @RegisterExtension
    static final TestServerExtension<RedisTestMasters> MASTERS = RedlockUnderTest.masters(3);

    @Override
    protected BackendUnderTest backend() {
        return new RedlockUnderTest(MASTERS);
    }
}
