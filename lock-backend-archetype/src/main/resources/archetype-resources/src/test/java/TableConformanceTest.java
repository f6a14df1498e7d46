package ${package};

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import io.mortise.lock.testkit.TestServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the backend keeps every rule of Mortise that the hooks in {@link OneDatabase} let the kit check. */
class TableConformanceTest extends LockConformance {
    @RegisterExtension
    static final TestServerExtension<H2Server> server =
            new TestServerExtension<>("table", H2Server::create, H2Server::address);

    @Override
    protected BackendUnderTest backend() {
        return new OneDatabase(server);
    }
}
