// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.mortise.lock.spi.MonotonicTime;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One request that runs a script. It completes on the connection's I/O thread, in the order of the answers. */
public final class ScriptCall extends AsyncCommand<String, String, List<Object>> {
    private final MonotonicTime sentAt;
    private final int epoch;
    private final AtomicReference<@Nullable Runnable> written = new AtomicReference<>();

    private volatile Runnable answered = ScriptCall::nothing;

    private ScriptCall(CommandType type, ScriptArgs args, MonotonicTime sentAt, int epoch) {
        super(new Command<>(type, new ScriptReplyOutput(), args));
        this.sentAt = sentAt;
        this.epoch = epoch;
    }

    /** By its digest, which the server may not know. */
    public static ScriptCall bySha1(LuaScript script, String[] keys, String[] args, MonotonicTime sentAt, int epoch) {
        return new ScriptCall(CommandType.EVALSHA, new ScriptArgs(script.sha1(), keys, args), sentAt, epoch);
    }

    /** With its text, which the server keeps. */
    public static ScriptCall byText(LuaScript script, String[] keys, String[] args, MonotonicTime sentAt, int epoch) {
        return new ScriptCall(CommandType.EVAL, new ScriptArgs(script.text(), keys, args), sentAt, epoch);
    }

    /** Told once: on the channel's thread as it is written, or by {@link #written}, also if that was before. */
    public void whenWritten(Runnable told) {
        if (!written.compareAndSet(null, told)) {
            told.run();
        }
    }

    /** It is, or never will be. */
    public void written() {
        Runnable told = written.getAndSet(ScriptCall::nothing);
        if (told != null) {
            told.run();
        }
    }

    /** What is told once it was told. */
    private static void nothing() {}

    @Override
    public void encode(ByteBuf buffer) {
        super.encode(buffer);
        written();
    }

    /** Told on the I/O thread as the server's answer comes, also to a request that was given up. */
    public void whenAnswered(Runnable told) {
        answered = told;
    }

    @Override
    public void complete() {
        answered.run();
        super.complete();
    }

    /** When it was handed to the connection. */
    public MonotonicTime sentAt() {
        return sentAt;
    }

    /** The connection that it was sent on at the earliest. */
    public int epoch() {
        return epoch;
    }
}
