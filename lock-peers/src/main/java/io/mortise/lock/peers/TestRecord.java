// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;
import java.util.Map;

/**
 * The result of one test of the kit on one peer.
 *
 * @param test name of the test method
 * @param argument its argument; empty if it has none
 * @param status passed, failed or aborted
 * @param message the reason of an abort, or the failure with its causes; empty if it passed
 * @param millis how long the test took
 * @param notes what the peer reported and the kit's API cannot express
 */
record TestRecord(String test, String argument, Status status, String message, long millis, List<String> notes) {
    /** How a test ended. */
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
        return argument.isEmpty() || argument.equals("SYNC") ? test : test + " " + argument;
    }

    Map<String, Object> toJson() {
        return Map.of(
                "test", test, "argument", argument, "status", status.name(), "message", message, "millis", millis,
                "notes", notes);
    }

    @SuppressWarnings("unchecked")
    static TestRecord fromJson(Map<String, Object> json) {
        return new TestRecord(
                (String) json.get("test"),
                (String) json.get("argument"),
                Status.valueOf((String) json.get("status")),
                (String) json.get("message"),
                ((Number) json.get("millis")).longValue(),
                (List<String>) json.get("notes"));
    }
}
