// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.redis.RedisModel;
import io.mortise.lock.explorer.redis.ScriptInterpreter;
import io.mortise.lock.explorer.redis.StoredValue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run of a script, which has the same result in many worlds, which differ elsewhere.
 *
 * @param timed whether grants expire by the clock
 */
record RedisScriptRun(RedisModel server, long now, String script, List<String> keys, List<String> args, boolean timed) {
    private static final int MOST_CACHED = 200_000;
    private static final ScriptInterpreter LUA = new ScriptInterpreter();
    private static final RedisKeyLayout.OfLock KEYS = RedisGrantHistory.KEYS;

    private static final Map<RedisScriptRun, ScriptOutcome> RESULTS = new HashMap<>();

    /** Returns the result, which is remembered. */
    ScriptOutcome outcome() {
        if (RESULTS.size() > MOST_CACHED) {
            RESULTS.clear();
        }
        return RESULTS.computeIfAbsent(this, RedisScriptRun::execute);
    }

    /**
     * The result of a script.
     *
     * @param server the server afterwards, on which nothing expires by itself
     * @param broken the rule that the script has broken, whoever sent it
     */
    record ScriptOutcome(RedisModel.Result result, RedisModel server, Optional<String> broken) {}

    private static ScriptOutcome execute(RedisScriptRun run) {
        RedisModel.Result result = LUA.run(run.server, run.now, run.script, run.keys, run.args);
        RedisModel next = result.next();
        RedisModel lasting = run.timed ? next.withoutExpiry(KEYS.grant()) : next.withoutExpiry();
        return new ScriptOutcome(result, lasting, leak(run.server, next));
    }

    /** Returns whether a script has written what stays for ever. */
    private static Optional<String> leak(RedisModel before, RedisModel after) {
        for (String key : List.of(KEYS.grant(), KEYS.queue(), KEYS.entries())) {
            StoredValue value = after.keys().get(key);
            StoredValue old = before.keys().get(key);
            boolean isWritten = old == null || (value instanceof StoredValue.Text && !value.equals(old));
            if (value != null && isWritten && value.expiresAt().isEmpty()) {
                return Optional.of("S17: " + key + " never expires");
            }
        }
        Set<String> entries = new HashSet<>(RedisGrantHistory.entriesIn(after));
        entries.remove(RedisWorld.WAKE);
        return RedisGrantHistory.queuedIn(after).equals(entries)
                ? Optional.empty()
                : Optional.of("S17: " + RedisGrantHistory.queuedIn(after) + " are queued, and there are entries of "
                        + entries);
    }
}
