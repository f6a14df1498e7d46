// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ScriptArgsTest {
    private static String encoded(CommandArgs<String, String> args) {
        ByteBuf out = Unpooled.buffer();
        args.encode(out);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theArgumentsAreEncodedAsByLettuce() {
        String[] keys = {"lock:x", "lock:%token"};
        String[] args = {"", "a b", "µ\r\nü", "x".repeat(3_000)};
        CommandArgs<String, String> expected = new CommandArgs<>(StringCodec.UTF8)
                .addValue("sha1")
                .add(keys.length)
                .addKeys(keys)
                .addValues(args);
        ScriptArgs ours = new ScriptArgs("sha1", keys, args);
        assertThat(encoded(ours)).isEqualTo(encoded(expected));
        assertThat(ours.count()).isEqualTo(expected.count());
    }
}
