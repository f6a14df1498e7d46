// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** A script call in the protocol of Redis, encoded by the calling thread so that the I/O thread only copies bytes. */
final class EncodedCall {
    /** The most bytes around a part: a dollar sign, ten digits and two line ends. */
    private static final int MOST_OVERHEAD = 15;

    private final byte[] bytes;
    private int length;

    /** @param script the script's digest or text */
    EncodedCall(CommandType command, String script, String[] keys, String[] args) {
        byte[][] parts = new byte[3 + keys.length + args.length][];
        parts[0] = command.getBytes();
        parts[1] = utf8(script);
        parts[2] = utf8(Integer.toString(keys.length));
        for (int i = 0; i < keys.length; i++) {
            parts[3 + i] = utf8(keys[i]);
        }
        for (int i = 0; i < args.length; i++) {
            parts[3 + keys.length + i] = utf8(args[i]);
        }
        bytes = new byte[most(parts)];
        number('*', parts.length);
        for (byte[] part : parts) {
            number('$', part.length);
            System.arraycopy(part, 0, bytes, length, part.length);
            length += part.length;
            lineEnd();
        }
    }

    private static byte[] utf8(String part) {
        return part.getBytes(StandardCharsets.UTF_8);
    }

    private static int most(byte[][] parts) {
        int most = MOST_OVERHEAD;
        for (byte[] part : parts) {
            most += part.length + MOST_OVERHEAD;
        }
        return most;
    }

    private void number(char type, int number) {
        bytes[length++] = (byte) type;
        digits(number);
        lineEnd();
    }

    private void digits(int number) {
        if (number >= 10) {
            digits(number / 10);
        }
        bytes[length++] = (byte) ('0' + number % 10);
    }

    private void lineEnd() {
        bytes[length++] = '\r';
        bytes[length++] = '\n';
    }

    void writeTo(ByteBuf out) {
        out.writeBytes(bytes, 0, length);
    }
}
