// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * A violation of one locking rule that was found in a recorded history.
 *
 * @param rule number of the rule, such as {@code S1}
 * @param what description of the violation, with the events that show it
 */
public record RuleViolation(String rule, String what) {
    @Override
    public String toString() {
        return rule + ": " + what;
    }
}
