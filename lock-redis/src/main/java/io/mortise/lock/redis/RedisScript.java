// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.script.LuaScript;

/**
 * The Lua scripts of this backend. What needs the queue comes last: Lua makes each function anew at every run, and most runs
 * end before.
 */
enum RedisScript {
    ACQUIRE("shared/keys", "tokens", "acquire", "shared/queue", "hand_off", "acquire_queued"),
    RELEASE("shared/keys", "release", "tokens", "shared/queue", "hand_off", "release_queued"),
    FORCE_RELEASE("shared/keys", "tokens", "shared/queue", "hand_off", "force_release"),
    RENEW("renew"),
    STATUS("shared/status");

    private final LuaScript script;

    RedisScript(String... files) {
        script = LuaScript.of(RedisScript.class::getResourceAsStream, files);
    }

    LuaScript script() {
        return script;
    }
}
