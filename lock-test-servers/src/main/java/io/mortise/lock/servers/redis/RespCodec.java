// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Encodes commands and decodes replies in version 2 of the Redis protocol (RESP2). Not thread-safe. */
final class RespCodec {
    private final InputStream in;
    private final OutputStream out;

    RespCodec(InputStream in, OutputStream out) {
        this.in = new BufferedInputStream(in);
        this.out = out;
    }

    void write(String... command) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ascii("*" + command.length + "\r\n"));
        for (String word : command) {
            byte[] content = word.getBytes(StandardCharsets.UTF_8);
            bytes.writeBytes(ascii("$" + content.length + "\r\n"));
            bytes.writeBytes(content);
            bytes.writeBytes(ascii("\r\n"));
        }
        out.write(bytes.toByteArray());
        out.flush();
    }

    @Nullable
    Object read() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case '-' -> new RawRedis.ErrorReply(rest);
            case ':' -> Long.valueOf(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> array(Integer.parseInt(rest));
            default -> throw new IOException("Not a Redis reply: " + line);
        };
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] content = in.readNBytes(length);
        if (content.length < length) {
            throw new EOFException();
        }
        line();
        return new String(content, StandardCharsets.UTF_8);
    }

    private @Nullable List<@Nullable Object> array(int size) throws IOException {
        if (size < 0) {
            return null;
        }
        List<@Nullable Object> elements = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            elements.add(read());
        }
        return elements;
    }

    private String line() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (true) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException();
            }
            if (next == '\n') {
                return bytes.toString(StandardCharsets.UTF_8).stripTrailing();
            }
            bytes.write(next);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
