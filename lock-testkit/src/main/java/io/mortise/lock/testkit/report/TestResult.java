// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.List;

/**
 * The result of one execution of a test.
 *
 * @param method name of the test method
 * @param display name of the execution, with its parameter
 * @param outcome the outcome
 * @param reason why the rule was not checked; empty otherwise
 * @param hook name of the missing hook; empty if there is none
 * @param failure the message of the failure; empty if the test did not fail
 * @param exception class of the failure; empty if the test did not fail
 * @param stack the frames of the failure that are not the kit's
 * @param events the events of a failed test; empty for others
 */
record TestResult(
        String method,
        String display,
        TestOutcome outcome,
        String reason,
        String hook,
        String failure,
        String exception,
        List<String> stack,
        List<LockEvent> events) {
    static TestResult withoutFailure(String method, String display, TestOutcome outcome, String reason, String hook) {
        return new TestResult(method, display, outcome, reason, hook, "", "", List.of(), List.of());
    }

    Rule rule() {
        return Rule.ofTest(method);
    }
}
