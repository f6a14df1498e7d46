// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

/** What all themes of the contract share. */
interface Contract {
    /** The bench of the running test. */
    Bench bench();
}
