// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

/**
 * The possible outcomes of a test, in ascending order of precedence: the highest among the tests of a rule is the outcome of
 * the rule.
 */
public enum TestOutcome {
    /** The test belongs to a capability that the backend does not claim, or to something that this JVM does not have. */
    NOT_CLAIMED,
    /** The rule was checked and holds. */
    PASSED,
    /** The test was not part of the run. */
    NOT_RUN,
    /** The test could not check its rule on this backend. */
    NOT_VERIFIED,
    /** The rule is broken. */
    FAILED
}
