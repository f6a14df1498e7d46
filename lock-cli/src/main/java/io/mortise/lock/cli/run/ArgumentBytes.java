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
 * Arguments and environment as bytes, as this process got them. Java's texts have lost what the locale's encoding cannot say,
 * which in cron's locale is everything beyond ASCII.
 */
final class ArgumentBytes {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private ArgumentBytes() {}

    /** The bytes of the last arguments of this process, which are these. */
    static List<byte[]> lastArguments(List<String> texts) {
        List<byte[]> asRead = texts.stream()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
        try {
            List<byte[]> all = split(Files.readAllBytes(COMMAND_LINE));
            if (all.size() < texts.size()) {
                return asRead;
            }
            List<byte[]> last = all.subList(all.size() - texts.size(), all.size());
            for (int i = 0; i < texts.size(); i++) {
                if (isAscii(last.get(i)) && !Arrays.equals(last.get(i), asRead.get(i))) {
                    return asRead; // we were not called by that line
                }
            }
            return last;
        } catch (IOException e) {
            return asRead; // not Linux
        }
    }

    /** Our own environment, less variables of these names, and these with their values; empty: not set. */
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
        byte[] wanted = prefix.getBytes(StandardCharsets.US_ASCII);
        return variable.length >= wanted.length && Arrays.equals(variable, 0, wanted.length, wanted, 0, wanted.length);
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
