// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The arguments of a script in the form in which they are sent, made by the thread that asks: the I/O thread is only one, and
 * copies them.
 */
final class ScriptArgs extends CommandArgs<String, String> {
    private final int count;
    private final byte[] encoded;

    /** @param script its digest or its text */
    ScriptArgs(String script, String[] keys, String[] args) {
        super(StringCodec.UTF8);
        Encoder encoder = new Encoder();
        encoder.add(script);
        encoder.add(Integer.toString(keys.length));
        for (String key : keys) {
            encoder.add(key);
        }
        for (String arg : args) {
            encoder.add(arg);
        }
        count = 2 + keys.length + args.length;
        encoded = encoder.bytes.toByteArray();
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public void encode(ByteBuf out) {
        out.writeBytes(encoded);
    }

    private static final class Encoder {
        private static final byte[] LINE_END = {'\r', '\n'};

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);

        void add(String argument) {
            byte[] content = argument.getBytes(StandardCharsets.UTF_8);
            bytes.write('$');
            bytes.writeBytes(Integer.toString(content.length).getBytes(StandardCharsets.US_ASCII));
            bytes.writeBytes(LINE_END);
            bytes.writeBytes(content);
            bytes.writeBytes(LINE_END);
        }
    }
}
