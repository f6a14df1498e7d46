// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** Request for the server's time, to see whether it answers at all. */
final class ServerPing extends AsyncCommand<String, String, List<String>> {
    private final Runnable written;

    /** @param written told on the I/O thread, which runs by then */
    ServerPing(Runnable written) {
        super(new Command<>(CommandType.TIME, new ValueListOutput<>(StringCodec.UTF8)));
        this.written = written;
    }

    @Override
    public void encode(ByteBuf buffer) {
        super.encode(buffer);
        written.run();
    }
}
