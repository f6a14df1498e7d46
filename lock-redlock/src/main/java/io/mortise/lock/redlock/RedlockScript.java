// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.LuaScript;

/**
 * The scripts, made of files beside this class and of those that lock-redis shares; the one that gives its name says in its
 * head what it takes and answers. What needs the queue comes last: Lua makes each function anew at every run, and most runs
 * end before.
 */
enum RedlockScript {
    ACQUIRE("shared/keys", "vote", "acquire", "shared/queue", "line", "acquire_in_line"),
    RAISE("shared/keys", "vote", "raise"),
    REGAIN("shared/keys", "vote", "regain"),
    YIELD("shared/keys", "shared/queue", "line", "yield"),
    RELEASE("shared/keys", "release", "shared/queue", "line", "release_in_line"),
    FORCE_RELEASE("shared/keys", "shared/queue", "line", "force_release"),
    RENEW("renew"),
    GREET("greet"),
    ADMIT("admit");

    private final LuaScript script;

    RedlockScript(String... files) {
        script = LuaScript.of(RedlockScript.class::getResourceAsStream, files);
    }

    LuaScript script() {
        return script;
    }
}
