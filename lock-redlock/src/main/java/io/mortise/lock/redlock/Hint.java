// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.spi.OwnerRecord;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A master says that a lock is free there, to the one that stands first in line.
 *
 * @param attemptId whom it is for
 * @param key of the lock
 */
record Hint(String attemptId, String key) {
    private static final Pattern FORM =
            Pattern.compile("W ([0-9a-f]{" + OwnerRecord.ATTEMPT_ID_LENGTH + "}) (.+)", Pattern.DOTALL);

    /** Empty if it is none: anybody can publish anything (S19). */
    static Optional<Hint> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches() ? Optional.of(new Hint(matcher.group(1), matcher.group(2))) : Optional.empty();
    }
}
