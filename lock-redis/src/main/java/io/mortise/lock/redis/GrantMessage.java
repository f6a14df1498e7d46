// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.ServerTime;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the message that a lock's server publishes for one of its waiters. Anybody may publish on its channel: what is not of
 * this form is no message, and what is counts only if its signature is right (S19).
 */
sealed interface GrantMessage {
    Pattern FORM = Pattern.compile("(G ([0-9a-f]{32}) (\\d{1,16}) (\\d{1,16})|W ([0-9a-f]{32})) ([0-9a-f]{40}) (\\S+)");

    /** Whom it is about. */
    String attemptId();

    /** The key of the lock's grant. */
    String key();

    /** All of it but the signature. */
    String signedText();

    /** 40 hexadecimal digits, see {@link MessageSignature}. */
    String signature();

    /** The lock was handed off to it, at that time of the server's clock. */
    record Granted(String attemptId, long token, ServerTime time, String key, String signedText, String signature)
            implements GrantMessage {}

    /** The lock is free and it may try first. */
    record Wake(String attemptId, String key, String signedText, String signature) implements GrantMessage {}

    static Optional<GrantMessage> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String signature = matcher.group(6);
        String key = matcher.group(7);
        String signedText = matcher.group(1) + " " + key;
        if (matcher.group(5) != null) {
            return Optional.of(new Wake(matcher.group(5), key, signedText, signature));
        }
        return Optional.of(new Granted(
                matcher.group(2),
                Long.parseLong(matcher.group(3)),
                new ServerTime(Long.parseLong(matcher.group(4))),
                key,
                signedText,
                signature));
    }
}
