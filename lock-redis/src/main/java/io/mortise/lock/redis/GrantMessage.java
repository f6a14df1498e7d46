// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the server tells a client about one of its waiters. Anybody may publish on its channel: what is not of this form is
 * no message (S19).
 */
sealed interface GrantMessage {
    Pattern FORM = Pattern.compile("(?:G ([0-9a-f]{32}) (\\d{1,16}) (\\d{1,16})|W ([0-9a-f]{32})) (\\S+)");

    /** Whom it is about. */
    String attemptId();

    /** The key of the lock's grant. */
    String key();

    /** The lock was handed on to it, at that time of the server's clock. */
    record Granted(String attemptId, long token, long serverMicros, String key) implements GrantMessage {}

    /** The lock is free and it may try first. */
    record Wake(String attemptId, String key) implements GrantMessage {}

    static Optional<GrantMessage> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        if (matcher.group(4) != null) {
            return Optional.of(new Wake(matcher.group(4), matcher.group(5)));
        }
        return Optional.of(new Granted(
                matcher.group(1),
                Long.parseLong(matcher.group(2)),
                Long.parseLong(matcher.group(3)),
                matcher.group(5)));
    }
}
