// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/**
 * The contract of every backend, as tests named by rule: subclass it. Subclass it, implement {@link #backend()}, run it with
 * JUnit:
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
 * <p>That alone checks what can be seen on a healthy network. To have the kit break things, implement {@link
 * BackendUnderTest} in a class of its own and give it {@link Faults}, one hook after the other, each of which turns tests
 * from skipped into run:
 *
 * <ol>
 *   <li>{@link BackendUnderTest#lease()}, {@link BackendUnderTest#takeoverWithin()} and {@link
 *       BackendUnderTest#removalToldWithin()}: how long things take on this store.
 *   <li>{@link Faults#link}: open each client through a {@link io.mortise.lock.testkit.proxy.TcpProxy} of its own; {@link
 *       LinkedBackendUnderTest} does.
 *   <li>{@link Faults#deleteGrant}, {@link Faults#expireSession}: with the store's own client.
 *   <li>{@link Faults#stopServer}, {@link Faults#startServer}: where the test owns the server.
 *   <li>{@link BackendUnderTest#requests()}: where the store counts.
 *   <li>{@link BackendUnderTest#url()}: once a provider is on the class path.
 * </ol>
 *
 * <p>A rule that the backend gives no means to check is reported as aborted with NOT VERIFIED and the missing hook, one about
 * a capability that it does not claim as aborted with "not claimed"; neither counts as passed. {@code docs/conformance.md} has
 * the table of rules, tests and hooks. JUnit runs the tests one after another; the whole takes one to three minutes with
 * leases of 2 or 3 s. {@link HealthyConformance} and {@link FaultConformance} are its two halves, for a build that runs test
 * classes side by side.
 */
public abstract class LockConformance extends ConformanceTestBase implements HealthyContracts, FaultContracts {
    /** Called by JUnit for each new instance. */
    protected LockConformance() {}
}
