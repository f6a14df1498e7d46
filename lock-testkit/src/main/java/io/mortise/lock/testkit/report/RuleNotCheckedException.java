// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** Thrown to abort a test that cannot check its rule on this backend, so that it counts as neither passed nor failed. */
public final class RuleNotCheckedException extends TestAbortedException {
    private static final long serialVersionUID = 1;

    private final TestOutcome outcome;
    private final @Nullable Hook hook;

    private RuleNotCheckedException(String message, TestOutcome outcome, @Nullable Hook hook) {
        super(message);
        this.outcome = outcome;
        this.hook = hook;
    }

    /**
     * Returns the exception for a rule that the kit cannot check here.
     *
     * @param rule the rules and the situation, such as "S09 on a silent store"
     * @param hook the missing hook; null if the reason is another one, or names the hook
     */
    public static RuleNotCheckedException notVerified(String rule, String why, @Nullable Hook hook) {
        return new RuleNotCheckedException(
                "NOT VERIFIED: " + rule + ": " + why,
                TestOutcome.NOT_VERIFIED,
                hook != null ? hook : Hook.namedIn(why).orElse(null));
    }

    /** Returns the exception for a rule of a capability that the backend does not claim. */
    public static RuleNotCheckedException notClaimed(String capability) {
        return new RuleNotCheckedException("not claimed: " + capability, TestOutcome.NOT_CLAIMED, null);
    }

    /** Returns the exception for a rule about something that this backend or this JVM does not have. */
    public static RuleNotCheckedException notApplicable(String why) {
        return new RuleNotCheckedException("not applicable: " + why, TestOutcome.NOT_CLAIMED, null);
    }

    TestOutcome outcome() {
        return outcome;
    }

    /** Returns the hook that would fill the hole; null if none would. */
    @Nullable
    Hook hook() {
        return hook;
    }
}
