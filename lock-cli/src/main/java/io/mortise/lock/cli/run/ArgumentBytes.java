// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Reads the command-line arguments and environment variables of this process as raw bytes. Java's strings have lost all
 * characters that the locale's encoding cannot represent; in cron's locale these are all characters beyond ASCII.
 */
final class ArgumentBytes {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private ArgumentBytes() {}

    /**
     * Returns the bytes of the last arguments of this process.
     *
     * @param decoded the same arguments as Java has decoded them
     */
    static List<byte[]> lastArguments(List<String> decoded) {
        List<byte[]> encoded = decoded.stream()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
        try {
            List<byte[]> all = split(Files.readAllBytes(COMMAND_LINE));
            if (all.size() < decoded.size()) {
                return encoded;
            }
            List<byte[]> last = all.subList(all.size() - decoded.size(), all.size());
            for (int i = 0; i < decoded.size(); i++) {
                if (isAscii(last.get(i)) && !Arrays.equals(last.get(i), encoded.get(i))) {
                    return encoded; // this command line is not the one that was parsed
                }
            }
            return last;
        } catch (IOException e) {
            return encoded; // not Linux
        }
    }

    /**
     * Returns the environment of this process with some variables changed.
     *
     * @param changes the new values by name; a variable with an empty value is removed
     */
    static List<byte[]> environment(Map<String, String> changes) {
        List<byte[]> variables = new ArrayList<>();
        Pointer environ = Libc.environ();
        for (long at = 0; ; at += Native.POINTER_SIZE) {
            Pointer entry = environ.getPointer(at);
            if (entry == null) {
                break;
            }
            byte[] variable = entry.getByteArray(0, (int) entry.indexOf(0, (byte) 0));
            if (changes.keySet().stream().noneMatch(name -> startsWith(variable, name + "="))) {
                variables.add(variable);
            }
        }
        changes.forEach((name, value) -> {
            if (!value.isEmpty()) {
                variables.add((name + "=" + value).getBytes(StandardCharsets.UTF_8));
            }
        });
        return variables;
    }

    private static boolean isAscii(byte[] text) {
        for (byte each : text) {
            if (each < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean startsWith(byte[] variable, String prefix) {
        byte[] start = prefix.getBytes(StandardCharsets.US_ASCII);
        return variable.length >= start.length && Arrays.equals(variable, 0, start.length, start, 0, start.length);
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
