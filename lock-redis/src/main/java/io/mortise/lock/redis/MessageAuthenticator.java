// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Verifies the signatures that scripts put on their messages to waiters. Each attempt has its own nonce, which only its queue
 * entry stores and with which the scripts sign, so that a message proves nothing but itself (S19). Nonces are derived from a
 * secret of the client, so messages for attempts that have ended can be verified too. Thread-safe.
 */
final class MessageAuthenticator {
    private static final int KEY_BYTES = 64; // one block of SHA-256
    private static final int NONCE_BYTES = 16;

    private final MessageDigest inner;
    private final MessageDigest outer;

    MessageAuthenticator() {
        this(randomKey());
    }

    /** @param key {@value #KEY_BYTES} bytes */
    MessageAuthenticator(byte[] key) {
        inner = startedWith(key, 0x36);
        outer = startedWith(key, 0x5c);
    }

    private static byte[] randomKey() {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    private static MessageDigest startedWith(byte[] key, int pad) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte b : key) {
                digest.update((byte) (b ^ pad));
            }
            return digest;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JVM has this algorithm
        }
    }

    /**
     * Returns the nonce with which scripts sign messages for this attempt: 32 hexadecimal digits, never to be shown. It is an
     * HMAC (RFC 2104), but not by {@code javax.crypto.Mac}: that would hash the key again for each attempt, and the first one
     * would wait until all security providers of the JDK are loaded.
     */
    String nonce(String attemptId) {
        byte[] hash = continued(outer, continued(inner, attemptId.getBytes(StandardCharsets.US_ASCII)));
        return HexFormat.of().formatHex(hash, 0, NONCE_BYTES);
    }

    private static byte[] continued(MessageDigest started, byte[] text) {
        try {
            return ((MessageDigest) started.clone()).digest(text);
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e); // the JDK's implementation supports it
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
