// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Reads the environment variables of this process as raw bytes. Java's strings have lost all characters that the locale's
 * encoding cannot represent.
 */
final class EnvironmentBytes {
    private EnvironmentBytes() {}

    /**
     * Returns the environment of this process with some variables changed.
     *
     * @param changes the new values by name; a variable with an empty value is removed
     */
    static List<byte[]> with(Map<String, String> changes) {
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

    private static boolean startsWith(byte[] variable, String prefix) {
        byte[] start = prefix.getBytes(StandardCharsets.US_ASCII);
        return variable.length >= start.length && Arrays.equals(variable, 0, start.length, start, 0, start.length);
    }
}
