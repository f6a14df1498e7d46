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
 * JUnit extension that provides a server to a test class, using a running one or starting its own.
 *
 * <p>Thread-safe while the tests run.
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
 * @param <S> type of the server that the extension starts
 */
public final class TestServerExtension<S extends AutoCloseable> implements BeforeAllCallback, AfterAllCallback {
    private final String store;
    private final Supplier<S> start;
    private final Function<S, String> address;
    private volatile @Nullable S started;

    /**
     * Creates the extension without starting a server.
     *
     * @param store name of the setting that has the address of a running server, see {@link TestSettings#get}
     * @param start starts a server and returns when it accepts requests
     * @param address returns the address of a started server, in the same form as the setting
     */
    public TestServerExtension(String store, Supplier<S> start, Function<S, String> address) {
        this.store = store;
        this.start = start;
        this.address = address;
    }

    /** Returns the server's address, from the setting or from the started server. */
    public String address() {
        return startedServerIfAny()
                .map(address)
                .or(() -> TestSettings.get(store))
                .orElseThrow();
    }

    /** Returns the server that this extension started; empty if the server already ran. */
    public Optional<S> startedServerIfAny() {
        return Optional.ofNullable(started);
    }

    /**
     * Returns the server that this extension started, for {@link Faults} that need control of the server.
     *
     * @throws UnsupportedOperationException if the server already ran; the rules that need the fault are then not verified
     */
    public S startedServer() {
        return startedServerIfAny()
                .orElseThrow(() -> new UnsupportedOperationException("the server was not started by this test"));
    }

    /** Called by JUnit: starts a server unless the setting names one. */
    @Override
    public void beforeAll(ExtensionContext tests) {
        if (TestSettings.get(store).isEmpty()) {
            started = start.get();
        }
    }

    /** Called by JUnit: closes the server that this extension started. */
    @Override
    public void afterAll(ExtensionContext tests) throws Exception {
        S server = started;
        if (server != null) {
            started = null;
            server.close();
        }
    }
}
