// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.Lua;
import party.iroiro.luajava.lua51.Lua51;

/** Runs Lua scripts as Redis does, against a {@link RedisModel}. Not thread-safe. */
public final class ScriptInterpreter implements AutoCloseable {
    /** Redis raises the error of a command as a table; {@code pcall} returns it. */
    private static final String PRELUDE = """
            redis = {
              pcall = function(...) return model_command(...) end,
              call = function(...)
                local reply = model_command(...)
                if type(reply) == 'table' and reply.err then error(reply, 0) end
                return reply
              end,
              sha1hex = function(text) return model_sha1(text) end
            }
            function model_run(script)
              local ok, reply = pcall(script)
              if ok or type(reply) == 'table' then return reply end
              return { err = 'ERR ' .. tostring(reply) }
            end
            """;

    private final Lua lua = new Lua51();
    private final Map<String, Integer> loaded = new HashMap<>();
    private @Nullable RedisCommands commands;

    /** Starts an interpreter. */
    public ScriptInterpreter() {
        lua.openLibraries();
        lua.push(this::command);
        lua.setGlobal("model_command");
        lua.push(ScriptInterpreter::sha1);
        lua.setGlobal("model_sha1");
        lua.run(PRELUDE);
    }

    /**
     * Runs a script on the server.
     *
     * @param script the text of the script
     * @param nowMicros the time of the server's clock
     */
    public RedisModel.Result run(
            RedisModel server, long nowMicros, String script, List<String> keys, List<String> args) {
        commands = new RedisCommands(server, nowMicros);
        pushArray(keys);
        lua.setGlobal("KEYS");
        pushArray(args);
        lua.setGlobal("ARGV");
        lua.getGlobal("model_run");
        lua.refGet(loaded.computeIfAbsent(script, this::load));
        lua.pCall(1, 1);
        Object reply = reply(lua.getTop());
        lua.setTop(0);
        return commands.result(reply);
    }

    @Override
    public void close() {
        lua.close();
    }

    private int load(String script) {
        lua.load(script);
        return lua.ref();
    }

    private int command(Lua at) {
        List<String> command = new ArrayList<>();
        for (int i = 1; i <= at.getTop(); i++) {
            command.add(
                    at.type(i) == Lua.LuaType.NUMBER
                            ? RedisCommands.number(at.toNumber(i))
                            : String.valueOf(at.toString(i)));
        }
        push(at, Objects.requireNonNull(commands).run(command));
        return 1;
    }

    private static int sha1(Lua at) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            at.push(HexFormat.of()
                    .formatHex(digest.digest(String.valueOf(at.toString(1)).getBytes(StandardCharsets.UTF_8))));
            return 1;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has this algorithm
        }
    }

    private void pushArray(List<String> values) {
        lua.createTable(values.size(), 0);
        for (int i = 0; i < values.size(); i++) {
            lua.push(values.get(i));
            lua.rawSetI(-2, i + 1);
        }
    }

    private static void push(Lua at, @Nullable Object reply) {
        if (reply == null) {
            at.push(false);
        } else if (reply instanceof Long number) {
            at.push((Number) number);
        } else if (reply instanceof String text) {
            at.push(text);
        } else if (reply instanceof RedisError error) {
            at.createTable(0, 1);
            at.push(error.message());
            at.setField(-2, "err");
        } else {
            List<?> values = (List<?>) reply;
            at.createTable(values.size(), 0);
            for (int i = 0; i < values.size(); i++) {
                push(at, values.get(i));
                at.rawSetI(-2, i + 1);
            }
        }
    }

    /** Returns what Redis replies for the value at this index of the stack. */
    private @Nullable Object reply(int index) {
        return switch (Objects.requireNonNull(lua.type(index))) {
            case NUMBER -> (Long) (long) lua.toNumber(index);
            case STRING -> lua.toString(index);
            case BOOLEAN -> lua.toBoolean(index) ? (Long) 1L : null;
            case TABLE -> tableReply(index);
            default -> null;
        };
    }

    private Object tableReply(int index) {
        lua.getField(index, "err");
        if (lua.type(-1) == Lua.LuaType.STRING) {
            return new RedisError(String.valueOf(lua.toString(-1)));
        }
        lua.pop(1);
        List<Object> values = new ArrayList<>();
        for (int i = 1; ; i++) {
            lua.rawGetI(index, i);
            if (lua.type(-1) == Lua.LuaType.NIL) {
                return values; // Redis too ends an array at its first gap
            }
            values.add(reply(lua.getTop()));
            lua.pop(1);
        }
    }
}
