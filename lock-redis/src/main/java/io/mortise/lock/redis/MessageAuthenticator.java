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

    private static final int INNER_PAD = 0x36;
    private static final int OUTER_PAD = 0x5c;

    private final byte[] key;
    private final MessageDigest inner;
    private final MessageDigest outer;

    MessageAuthenticator() {
        this(randomKey());
    }

    /** @param key {@value #KEY_BYTES} bytes */
    MessageAuthenticator(byte[] key) {
        this.key = key.clone();
        inner = startedWith(INNER_PAD);
        outer = startedWith(OUTER_PAD);
    }

    private static byte[] randomKey() {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    private MessageDigest startedWith(int pad) {
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
        byte[] hash =
                continued(outer, OUTER_PAD, continued(inner, INNER_PAD, attemptId.getBytes(StandardCharsets.US_ASCII)));
        return HexFormat.of().formatHex(hash, 0, NONCE_BYTES);
    }

    private byte[] continued(MessageDigest started, int pad, byte[] text) {
        MessageDigest digest;
        try {
            digest = (MessageDigest) started.clone();
        } catch (CloneNotSupportedException e) {
            digest = startedWith(pad); // the JDK's implementation supports it, but another provider may come first
        }
        return digest.digest(text);
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
