// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.script.LuaScript;

/**
 * The Lua scripts of the Redis backend. The parts that need the queue come last, because Lua creates each function again at
 * every run, and most runs end before these parts.
 */
enum RedisLockScript {
    ACQUIRE("shared/keys", "tokens", "acquire", "shared/queue", "hand_off", "acquire_queued"),
    RELEASE("shared/keys", "release", "tokens", "shared/queue", "hand_off", "release_queued"),
    FORCE_RELEASE("shared/keys", "tokens", "shared/queue", "hand_off", "force_release"),
    RELEASE_AFTER("shared/keys", "shared/keep_grant", "tokens", "shared/queue", "hand_off", "release_after"),
    RENEW("renew"),
    STATUS("shared/status");

    private final LuaScript script;

    /** @param files the names of the script's parts without {@code .lua}, in their order */
    RedisLockScript(String... files) {
        script = LuaScript.of(file -> RedisLockScript.class.getResourceAsStream(file), files);
    }

    LuaScript script() {
        return script;
    }
}
