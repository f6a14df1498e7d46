// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The result of one test of the conformance kit on one lock library.
 *
 * @param test name of the test method
 * @param argument its argument; empty if it has none
 * @param status passed, failed or aborted
 * @param message the reason of an abort, or the failure with its causes; empty if it passed
 * @param runs how often the test ran; a test that fails is repeated alone
 * @param failures how often it failed
 * @param notes what the peer reported and the kit's API cannot express
 */
record TestRecord(
        String test, String argument, Status status, String message, int runs, int failures, List<String> notes) {
    /** The outcome of a test. */
    enum Status {
        PASSED,
        FAILED,
        ABORTED
    }

    /** Returns the rule that the test is named after, such as {@code S05}; a test of a capability belongs to its rule. */
    String rule() {
        if (test.startsWith("S")) {
            return test.substring(0, 3);
        }
        return switch (argument) {
            case "FENCING" -> "S03";
            case "PUSH", "CRASH_RELEASE" -> "S11";
            default -> "";
        };
    }

    /** Returns the test's name with its argument, if that says something. */
    String name() {
        return argument.isEmpty() || argument.equals("SYNC") ? test : test + " (" + argument + ")";
    }

    /**
     * Returns this result with that of a later run of the same test added. A failure stays the result if the later run passes;
     * otherwise the later run is shown, a failure or an abort, since that test ran alone.
     */
    TestRecord plus(TestRecord again) {
        TestRecord shown = again.status == Status.PASSED ? this : again;
        return new TestRecord(
                test, argument, shown.status, shown.message, runs + again.runs, failures + again.failures, shown.notes);
    }

    Map<String, Object> toJson() {
        return Map.of(
                "test",
                test,
                "argument",
                argument,
                "status",
                status.name(),
                "message",
                message,
                "runs",
                runs,
                "failures",
                failures,
                "notes",
                notes);
    }

    @SuppressWarnings("unchecked")
    static TestRecord fromJson(Map<String, Object> json) {
        return new TestRecord(
                (String) field(json, "test"),
                (String) field(json, "argument"),
                Status.valueOf((String) field(json, "status")),
                (String) field(json, "message"),
                ((Number) field(json, "runs")).intValue(),
                ((Number) field(json, "failures")).intValue(),
                (List<String>) field(json, "notes"));
    }

    private static Object field(Map<String, Object> json, String name) {
        return Objects.requireNonNull(json.get(name), name);
    }
}
