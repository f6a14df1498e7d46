// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Tells messages that the scripts publish from forged ones, by a nonce of the attempt (S19). Each attempt has a nonce of its
 * own, which is stored in its queue entry alone; the scripts sign each message with it, so that a message proves nothing but
 * itself. Nonces are derived from a secret of the client: messages for attempts that have ended are checked too. Thread-safe.
 */
final class MessageSignature {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int NONCE_BYTES = 16;

    private final SecretKeySpec secret;

    MessageSignature() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        secret = new SecretKeySpec(random, ALGORITHM);
    }

    /** Returns what the scripts sign messages for this attempt with: 32 hexadecimal digits, never to be shown. */
    String nonce(String attemptId) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            byte[] all = mac.doFinal(attemptId.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(all, 0, NONCE_BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JVM has it
        }
    }

    /** Whether a script published exactly this. Takes as long for a wrong signature as for a right one. */
    boolean isGenuine(GrantMessage message) {
        byte[] expected = signature(nonce(message.attemptId()), message.signedText());
        return MessageDigest.isEqual(expected, HexFormat.of().parseHex(message.signature()));
    }

    /** As {@code hand_off.lua} does, by what every Redis offers its scripts; the nonce on both sides lets nobody append. */
    private static byte[] signature(String nonce, String text) {
        try {
            return MessageDigest.getInstance("SHA-1").digest((nonce + text + nonce).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
