// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.Script;

/**
 * The scripts, made of files beside this class and of those that all can use; the one that gives its name says in its head
 * what it takes and answers. What needs the queue comes last: Lua makes each function anew at every run, and most runs end
 * before.
 */
enum RedisScript {
    ACQUIRE("shared/keys", "tokens", "acquire", "shared/queue", "hand_on", "acquire_in_line"),
    RELEASE("shared/keys", "release", "tokens", "shared/queue", "hand_on", "release_in_line"),
    FORCE_RELEASE("shared/keys", "tokens", "shared/queue", "hand_on", "force_release"),
    RENEW("renew"),
    STATUS("status");

    private final Script script;

    RedisScript(String... files) {
        script = Script.of(RedisScript.class::getResourceAsStream, files);
    }

    Script script() {
        return script;
    }
}
