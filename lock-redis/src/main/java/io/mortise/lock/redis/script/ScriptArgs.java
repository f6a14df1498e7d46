// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The arguments of a script call, encoded by the calling thread so that the I/O thread only copies bytes. */
final class ScriptArgs extends CommandArgs<String, String> {
    private static final byte[] LINE_END = {'\r', '\n'};

    /** The most bytes around an argument: a dollar sign, ten digits and two line ends. */
    private static final int MOST_OVERHEAD = 15;

    private final int count;
    private final byte[] encoded;
    private final int length;

    /** @param script the script's digest or text */
    ScriptArgs(String script, String[] keys, String[] args) {
        super(StringCodec.UTF8);
        count = 2 + keys.length + args.length;
        byte[][] contents = new byte[count][];
        contents[0] = bytes(script);
        contents[1] = bytes(Integer.toString(keys.length));
        for (int i = 0; i < keys.length; i++) {
            contents[2 + i] = bytes(keys[i]);
        }
        for (int i = 0; i < args.length; i++) {
            contents[2 + keys.length + i] = bytes(args[i]);
        }
        encoded = new byte[most(contents)];
        length = encode(contents, ByteBuffer.wrap(encoded));
    }

    private static byte[] bytes(String argument) {
        return argument.getBytes(StandardCharsets.UTF_8);
    }

    private static int most(byte[][] contents) {
        int most = 0;
        for (byte[] content : contents) {
            most += content.length + MOST_OVERHEAD;
        }
        return most;
    }

    private static int encode(byte[][] contents, ByteBuffer out) {
        for (byte[] content : contents) {
            out.put((byte) '$');
            digits(out, content.length);
            out.put(LINE_END).put(content).put(LINE_END);
        }
        return out.position();
    }

    private static void digits(ByteBuffer out, int number) {
        if (number >= 10) {
            digits(out, number / 10);
        }
        out.put((byte) ('0' + number % 10));
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public void encode(ByteBuf out) {
        out.writeBytes(encoded, 0, length);
    }
}
