// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opentest4j.TestAbortedException;

/**
 * Aborts a test that requires a guarantee which the compared lock library does not claim, and recognizes such an abort in
 * failures.
 */
final class UnclaimedGuaranteeAbort {
    private static final Pattern MARK = Pattern.compile("(?s).*?never claimed: ([^\\n]+).*");

    private UnclaimedGuaranteeAbort() {}

    static TestAbortedException abort(Claim missing) {
        return abort(missing.description());
    }

    static TestAbortedException abort(String missing) {
        return new TestAbortedException("never claimed: " + missing);
    }

    /** Returns the missing promise if such an abort is the failure, its cause, or quoted in its message. */
    static Optional<String> in(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            Optional<String> named = in(String.valueOf(each.getMessage()));
            if (named.isPresent()) {
                return named;
            }
            if (each.getCause() == each) {
                break;
            }
        }
        return Optional.empty();
    }

    static Optional<String> in(String message) {
        Matcher mark = MARK.matcher(message);
        return mark.matches() ? Optional.of(mark.group(1).strip()) : Optional.empty();
    }
}
