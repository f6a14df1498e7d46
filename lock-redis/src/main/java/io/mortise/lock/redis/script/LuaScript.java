// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import com.google.errorprone.annotations.Immutable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A Lua script and the SHA-1 digest by which the server knows it. */
@Immutable
public final class LuaScript {
    private final String text;
    private final String sha1;

    public LuaScript(String text) {
        this.text = text;
        this.sha1 = sha1Of(text);
    }

    /**
     * Returns a script that is concatenated from files. A name that begins with {@code shared/} is a file of this package,
     * which all backends can use: {@code shared/keys}, and {@code shared/queue} after it.
     *
     * @param backendFiles opens a file of the backend by {@code ItsClass.class.getResourceAsStream}, since this module cannot. A
     *     method reference would do it, but take longer to link than all scripts take to read
     * @param files the names of the files without {@code .lua}, in their order
     * @throws IllegalStateException if there is no such file
     */
    public static LuaScript of(Function<String, @Nullable InputStream> backendFiles, String... files) {
        StringBuilder all = new StringBuilder();
        for (String file : files) {
            all.append(read(backendFiles, file + ".lua"));
        }
        return new LuaScript(all.toString());
    }

    /** Returns the text of the script. */
    public String text() {
        return text;
    }

    /** Returns the digest by which the server knows the script once it has received its text. */
    public String sha1() {
        return sha1;
    }

    private static String read(Function<String, @Nullable InputStream> backendFiles, String file) {
        try (InputStream in =
                file.startsWith("shared/") ? LuaScript.class.getResourceAsStream(file) : backendFiles.apply(file)) {
            if (in == null) {
                throw new IllegalStateException("script file not found: " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1Of(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has this algorithm
        }
    }
}
