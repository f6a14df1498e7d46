// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The server of one class of tests: one that already runs, or one that is started for it. Thread-safe while the tests run.
 *
 * <pre>{@code
 * class MyConformanceTest extends LockConformance {
 *     @RegisterExtension
 *     static final TestServerExtension<MyServer> server =
 *             new TestServerExtension<>("mystore", MyServer::start, MyServer::address);
 *
 *     protected BackendUnderTest backend() {
 *         return new OneNamespace(server);
 *     }
 * }
 * }</pre>
 *
 * @param <S> a server of our own
 */
public final class TestServerExtension<S extends AutoCloseable> implements BeforeAllCallback, AfterAllCallback {
    private final String store;
    private final Supplier<S> start;
    private final Function<S, String> address;
    private volatile @Nullable S own;

    /**
     * Starts nothing yet.
     *
     * @param store the setting that gives the address of one that runs already, see {@link TestSettings#get}
     * @param start starts one of our own, which serves then
     * @param address where that can be reached, in the form in which one from outside is given
     */
    public TestServerExtension(String store, Supplier<S> start, Function<S, String> address) {
        this.store = store;
        this.start = start;
        this.address = address;
    }

    /** Where it can be reached: what was given from outside, or what our own says. */
    public String address() {
        return ifOwn().map(address).or(() -> TestSettings.get(store)).orElseThrow();
    }

    /** Our own; empty if the server is one from outside. */
    public Optional<S> ifOwn() {
        return Optional.ofNullable(own);
    }

    /**
     * Our own: for {@link Faults} that need a hand off the server.
     *
     * @throws UnsupportedOperationException if the server is one from outside; what needs more is then not verified
     */
    public S own() {
        return ifOwn().orElseThrow(() -> new UnsupportedOperationException("the server is not ours"));
    }

    /** For JUnit: starts one unless there is one. */
    @Override
    public void beforeAll(ExtensionContext tests) {
        if (TestSettings.get(store).isEmpty()) {
            own = start.get();
        }
    }

    /** For JUnit: ends our own. */
    @Override
    public void afterAll(ExtensionContext tests) throws Exception {
        S started = own;
        if (started != null) {
            own = null;
            started.close();
        }
    }
}
