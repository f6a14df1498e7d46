// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.mortise.lock.spi.MonotonicInstant;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A request that runs a script on the server. It completes on the connection's I/O thread, in the order of the replies. */
public final class ScriptCall extends AsyncCommand<String, String, List<Object>> {
    private final EncodedCall encoded;
    private final MonotonicInstant sentAt;
    private final int epoch;
    private final AtomicReference<@Nullable Runnable> written = new AtomicReference<>();

    private volatile Runnable answered = ScriptCall::nothing;

    private ScriptCall(
            CommandType type, String script, String[] keys, String[] args, MonotonicInstant sentAt, int epoch) {
        super(new Command<>(type, new ScriptReplyOutput()));
        this.encoded = new EncodedCall(type, script, keys, args);
        this.sentAt = sentAt;
        this.epoch = epoch;
    }

    /** Returns a call by the script's digest, which the server may not know. */
    public static ScriptCall bySha1(
            LuaScript script, String[] keys, String[] args, MonotonicInstant sentAt, int epoch) {
        return new ScriptCall(CommandType.EVALSHA, script.sha1(), keys, args, sentAt, epoch);
    }

    /** Returns a call with the script's text, which the server keeps. */
    public static ScriptCall byText(
            LuaScript script, String[] keys, String[] args, MonotonicInstant sentAt, int epoch) {
        return new ScriptCall(CommandType.EVAL, script.text(), keys, args, sentAt, epoch);
    }

    /**
     * Sets a callback that runs once: when the request is written, on the channel's thread, or on {@link #written}. It runs
     * at once if either has happened before.
     */
    public void whenWritten(Runnable callback) {
        if (!written.compareAndSet(null, callback)) {
            callback.run();
        }
    }

    /** Records that the request is written, or never will be. */
    public void written() {
        Runnable callback = written.getAndSet(ScriptCall::nothing);
        if (callback != null) {
            callback.run();
        }
    }

    /** Replaces a callback that has run. */
    private static void nothing() {}

    @Override
    public void encode(ByteBuf buffer) {
        encoded.writeTo(buffer);
        written();
    }

    /** Sets a callback for the server's reply. It runs on the I/O thread, even if the request has timed out before. */
    public void onReply(Runnable callback) {
        answered = callback;
    }

    @Override
    public void complete() {
        answered.run();
        super.complete();
    }

    /** Returns when the call was first submitted to the connection. */
    public MonotonicInstant sentAt() {
        return sentAt;
    }

    /** Returns the epoch at the time of sending; the call was sent on the connection of this epoch or of a later one. */
    public int epoch() {
        return epoch;
    }
}
