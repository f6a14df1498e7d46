// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** A group of conformance tests for related rules. */
interface Contract {
    /** Key of JUnit's resource lock on the server that the tests of a class share. */
    String SERVER = "io.mortise.lock.testkit.server";

    /** Key of JUnit's resource lock for tests that start child JVMs, since many at once would starve each other. */
    String PROCESSES = "io.mortise.lock.testkit.processes";

    /** JUnit's tag of the tests that start child JVMs, which take most of the processor time. */
    String PROCESSES_TAG = "processes";

    /** Returns the fixture of the running test. */
    ContractTestFixture fixture();
}
