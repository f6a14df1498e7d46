// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads the command-line arguments of this process as raw bytes. Java's strings have lost all characters that the locale's
 * encoding cannot represent; in cron's locale these are all characters beyond ASCII.
 */
public final class CommandLineBytes {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private CommandLineBytes() {}

    /**
     * Returns the bytes of the last arguments of this process.
     *
     * @param decoded the same arguments as Java has decoded them
     */
    public static List<byte[]> ofLast(List<String> decoded) {
        return raw(decoded)
                .orElseGet(() -> decoded.stream()
                        .map(text -> text.getBytes(StandardCharsets.UTF_8))
                        .toList());
    }

    /**
     * Returns the arguments decoded as UTF-8 in every locale, so that a lock's name is the same on every host (S13). An
     * argument that is not UTF-8, and on a system without {@code /proc} each one, stays as Java has decoded it.
     */
    public static String[] decodeAsUtf8(String... args) {
        return raw(List.of(args))
                .map(raw -> {
                    String[] texts = args.clone();
                    for (int i = 0; i < texts.length; i++) {
                        texts[i] = utf8(raw.get(i)).orElse(texts[i]);
                    }
                    return texts;
                })
                .orElse(args);
    }

    private static Optional<String> utf8(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /** Returns the bytes of the last arguments; empty if they cannot be read. */
    private static Optional<List<byte[]>> raw(List<String> decoded) {
        try {
            List<byte[]> all = split(Files.readAllBytes(COMMAND_LINE));
            if (all.size() < decoded.size()) {
                return Optional.empty();
            }
            List<byte[]> last = all.subList(all.size() - decoded.size(), all.size());
            for (int i = 0; i < decoded.size(); i++) {
                if (isAscii(last.get(i))
                        && !decoded.get(i).equals(new String(last.get(i), StandardCharsets.US_ASCII))) {
                    return Optional.empty(); // this command line is not the one that was parsed
                }
            }
            return Optional.of(last);
        } catch (IOException e) {
            return Optional.empty(); // not Linux
        }
    }

    private static boolean isAscii(byte[] text) {
        for (byte each : text) {
            if (each < 0) {
                return false;
            }
        }
        return true;
    }

    private static List<byte[]> split(byte[] terminated) {
        List<byte[]> parts = new ArrayList<>();
        int begin = 0;
        for (int at = 0; at < terminated.length; at++) {
            if (terminated[at] == 0) {
                parts.add(Arrays.copyOfRange(terminated, begin, at));
                begin = at + 1;
            }
        }
        return parts;
    }
}
