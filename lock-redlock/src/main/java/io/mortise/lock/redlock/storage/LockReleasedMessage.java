// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Message with which a master notifies the head of its queue that the lock is free.
 *
 * @param attemptId id of the attempt that the message is for
 * @param key grant key of the lock
 */
public record LockReleasedMessage(String attemptId, String key) {
    private static final Pattern FORMAT =
            Pattern.compile("W ([0-9a-f]{" + OwnerRecordCodec.ATTEMPT_ID_LENGTH + "}) (.+)", Pattern.DOTALL);

    /** Parses a message; empty if it has another format, since any Redis client can publish anything (S19). */
    public static Optional<LockReleasedMessage> parse(String text) {
        Matcher matcher = FORMAT.matcher(text);
        return matcher.matches()
                ? Optional.of(new LockReleasedMessage(matcher.group(1), matcher.group(2)))
                : Optional.empty();
    }
}
