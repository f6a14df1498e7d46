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

/** A Lua script and its digest. */
@Immutable
public final class LuaScript {
    private final String text;
    private final String sha1;
    private final boolean whole;

    public LuaScript(String text) {
        this(text, false);
    }

    private LuaScript(String text, boolean whole) {
        this.text = text;
        this.sha1 = sha1Of(text);
        this.whole = whole;
    }

    /**
     * The same, sent with its text each time: one that the server does not know by its digest is sent again, behind what was
     * sent since, and some must keep their position.
     */
    public LuaScript whole() {
        return new LuaScript(text, true);
    }

    public boolean isWhole() {
        return whole;
    }

    /**
     * Put together from files. One whose name begins with {@code shared/} is one of those that all can use: {@code
     * shared/keys}, and {@code shared/queue} after it.
     *
     * @param own opens a file of the backend, {@code ItsClass.class::getResourceAsStream}: this module could not
     * @param files their names without {@code .lua}, in their order
     * @throws IllegalStateException if there is no such file
     */
    public static LuaScript of(Function<String, @Nullable InputStream> own, String... files) {
        StringBuilder all = new StringBuilder();
        for (String file : files) {
            all.append(read(own, file + ".lua"));
        }
        return new LuaScript(all.toString());
    }

    /** What the server runs. */
    public String text() {
        return text;
    }

    /** By what the server knows it once it has seen it. */
    public String sha1() {
        return sha1;
    }

    private static String read(Function<String, @Nullable InputStream> own, String file) {
        try (InputStream in =
                file.startsWith("shared/") ? LuaScript.class.getResourceAsStream(file) : own.apply(file)) {
            if (in == null) {
                throw new IllegalStateException("there is no " + file);
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
            throw new IllegalStateException(e); // every JDK has it
        }
    }
}
