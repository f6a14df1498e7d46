// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The scripts, made of files beside this class; the one that gives its name says in its head what it takes and answers. What
 * needs the queue comes last: Lua makes each function anew at every run, and most runs end before.
 */
enum Script {
    ACQUIRE("keys", "tokens", "acquire", "queue", "acquire_in_line"),
    RELEASE("keys", "release", "tokens", "queue", "release_in_line"),
    FORCE_RELEASE("keys", "tokens", "queue", "force_release"),
    RENEW("renew"),
    STATUS("status");

    private final String text;
    private final String sha1;

    Script(String... files) {
        StringBuilder all = new StringBuilder();
        for (String file : files) {
            all.append(read(file + ".lua"));
        }
        text = all.toString();
        sha1 = sha1(text);
    }

    String text() {
        return text;
    }

    /** By what the server knows it once it has seen it. */
    String sha1() {
        return sha1;
    }

    private static String read(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing beside " + Script.class.getName());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }
}
