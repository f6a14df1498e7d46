// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** A {@code TIME} request that checks whether a server still responds. */
final class ServerPing extends AsyncCommand<String, String, List<String>> {
    private final Runnable written;

    /** @param written called on the I/O thread when the request is written, which proves that this thread runs */
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
