// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * Violation of one rule, found in a history.
 *
 * @param rule its number, such as {@code S1}
 * @param what what was wrong, with the events that show it
 */
public record RuleViolation(String rule, String what) {
    @Override
    public String toString() {
        return rule + ": " + what;
    }
}
