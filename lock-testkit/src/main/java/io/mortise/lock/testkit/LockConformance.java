// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * The conformance tests that every backend must pass, named after the rules that they check.
 *
 * <p>To test a backend, subclass this class, implement {@link #backend()} and run it with JUnit:
 *
 * <pre>{@code
 * class MyConformanceTest extends LockConformance {
 *     protected BackendUnderTest backend() {
 *         String url = "mystore://localhost/test-" + UUID.randomUUID(); // a namespace for each test
 *         return options -> Locks.connect(url, options);
 *     }
 * }
 * }</pre>
 *
 * <p>This alone runs the tests that need no faults. To let the kit inject faults, implement {@link BackendUnderTest} in a
 * separate class and add {@link Faults}, one hook after the other. Each hook enables tests that are skipped without it:
 *
 * <ol>
 *   <li>{@link BackendUnderTest#lease()}, {@link BackendUnderTest#takeoverWithin()} and {@link
 *       BackendUnderTest#removalNotifiedWithin()}: time limits of this store.
 *   <li>{@link Faults#link}: open each client through its own {@link io.mortise.lock.testkit.proxy.TcpProxy}, as {@link
 *       LinkedBackendUnderTest} does.
 *   <li>{@link Faults#deleteGrant}, {@link Faults#expireSession}: implemented with the store's own client.
 *   <li>{@link Faults#stopServer}, {@link Faults#startServer}: if the test starts the server.
 *   <li>{@link BackendUnderTest#requests()}: if the store counts requests.
 *   <li>{@link BackendUnderTest#url()}: if a provider is on the class path.
 * </ol>
 *
 * <p>A test that needs a missing hook is reported as aborted with NOT VERIFIED and the name of the hook. A test of a capability
 * that the backend does not claim is reported as aborted with "not claimed". Neither counts as passed.
 * {@code docs/conformance.md} has the table of rules, tests and hooks. The tests take a few minutes one after the other; if
 * JUnit's parallel execution is enabled they run concurrently, except those that need the server for themselves.
 * {@link FaultFreeConformance} and {@link FaultConformance} are the two halves of this class, for a build that runs test
 * classes in parallel.
 */
public abstract class LockConformance extends ConformanceTestBase implements FaultFreeContracts, FaultContracts {
    /** Called by JUnit for each new instance. */
    protected LockConformance() {}
}
