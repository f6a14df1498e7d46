// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.ServerTime;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A message that grants the lock to a waiter or wakes the waiter. The scripts publish it on the channel of the waiter's client.
 * Any client may publish there, so text of another form is ignored, and a message counts only if its signature is valid (S19).
 */
sealed interface GrantMessage {
    Pattern FORM = Pattern.compile("(G ([0-9a-f]{32}) (\\d{1,16}) (\\d{1,16})|W ([0-9a-f]{32})) ([0-9a-f]{40}) (\\S+)");

    /** Returns the id of the attempt that the message is for. */
    String attemptId();

    /** Returns the key of the lock's grant. */
    String key();

    /** Returns the message without its signature. */
    String signedText();

    /** Returns the signature in 40 hexadecimal digits, see {@link MessageAuthenticator}. */
    String signature();

    /** Message that the lock was handed off to the attempt at the given time of the server's clock. */
    record Granted(String attemptId, long token, ServerTime time, String key, String signedText, String signature)
            implements GrantMessage {}

    /** Message that the lock is free and that the attempt may try to acquire it before others. */
    record Wake(String attemptId, String key, String signedText, String signature) implements GrantMessage {}

    /** Parses a published text; empty if it is not such a message. */
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
