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
 * Verifies the signatures that scripts put on their messages to waiters. Each attempt has its own nonce, which only its queue
 * entry stores and with which the scripts sign, so that a message proves nothing but itself (S19). Nonces are derived from a
 * secret of the client, so messages for attempts that have ended can be verified too. Thread-safe.
 */
final class MessageAuthenticator {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int NONCE_BYTES = 16;

    private final SecretKeySpec secret;

    MessageAuthenticator() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        secret = new SecretKeySpec(random, ALGORITHM);
    }

    /** Returns the nonce with which scripts sign messages for this attempt: 32 hexadecimal digits, never to be shown. */
    String nonce(String attemptId) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            byte[] all = mac.doFinal(attemptId.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(all, 0, NONCE_BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JVM has this algorithm
        }
    }

    /** Returns whether a script published exactly this message. Takes as long for a wrong signature as for a right one. */
    boolean isGenuine(GrantMessage message) {
        byte[] expected = signature(nonce(message.attemptId()), message.signedText());
        return MessageDigest.isEqual(expected, HexFormat.of().parseHex(message.signature()));
    }

    /**
     * Computes the signature as {@code hand_off.lua} does, with the only digest that every Redis offers its scripts. The nonce
     * on both sides prevents others from appending to a signed text.
     */
    private static byte[] signature(String nonce, String text) {
        try {
            return MessageDigest.getInstance("SHA-1").digest((nonce + text + nonce).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
