// SPDX-License-Identifier: Apache-2.0
package example.nats;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the backend keeps every rule of Mortise that the hooks in {@link OneBucket} let the kit check. */
class NatsConformanceTest extends LockConformance {
    @RegisterExtension
    static final TestServerExtension<NatsServer> server =
            new TestServerExtension<>("nats", NatsServer::create, NatsServer::address);

    @Override
    protected BackendUnderTest backend() {
        return new OneBucket(server);
    }
}
