// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class EncodedCallTest {
    private static String encoded(Consumer<ByteBuf> encoder) {
        ByteBuf out = Unpooled.buffer();
        encoder.accept(out);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aCallIsEncodedAsByLettuce() {
        String[] keys = {"lock:x", "lock:%token"};
        String[] args = {"", "a b", "µ\r\nü", "x".repeat(3_000)};
        CommandArgs<String, String> lettuceArgs = new CommandArgs<>(StringCodec.UTF8)
                .addValue("sha1")
                .add(keys.length)
                .addKeys(keys)
                .addValues(args);
        Command<String, String, String> expected =
                new Command<>(CommandType.EVALSHA, new StatusOutput<>(StringCodec.UTF8), lettuceArgs);
        EncodedCall ours = new EncodedCall(CommandType.EVALSHA, "sha1", keys, args);
        assertThat(encoded(ours::writeTo)).isEqualTo(encoded(expected::encode));
    }
}
