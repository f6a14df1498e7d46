// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** Marker of a contract: a group of conformance tests. */
interface Contract {
    /** The fixture of the running test. */
    ContractFixture fixture();
}
