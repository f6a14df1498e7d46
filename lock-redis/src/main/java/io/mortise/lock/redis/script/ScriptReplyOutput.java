// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes a script's reply into a list of numbers and strings. A single value becomes a list of one. */
final class ScriptReplyOutput extends CommandOutput<String, String, List<Object>> {
    private static final int USUAL_SIZE = 3;

    ScriptReplyOutput() {
        super(StringCodec.UTF8, new ArrayList<>(USUAL_SIZE));
    }

    @Override
    public void set(long integer) {
        output.add(integer);
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {
        output.add(bytes == null ? "" : codec.decodeValue(bytes));
    }

    /** Ignored, because the scripts return no nested lists. */
    @Override
    public void multi(int count) {}
}
