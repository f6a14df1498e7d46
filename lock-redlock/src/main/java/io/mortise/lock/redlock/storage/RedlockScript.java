// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import io.mortise.lock.redis.script.LuaScript;

/**
 * The Lua scripts that run on a master. Each is composed of files beside this class and of files that lock-redis shares; the
 * file with the name of the script documents its arguments and its reply.
 *
 * <p>The files for the queue come last: Lua creates each function again in every run, and most runs end before that point.
 */
public enum RedlockScript {
    ACQUIRE("shared/keys", "require_vote", "acquire", "shared/queue", "queue_entries", "acquire_queued"),
    RAISE_TOKEN("shared/keys", "require_vote", "raise_token"),
    RECOVER_VOTE("shared/keys", "require_vote", "shared/queue", "recover_vote"),
    YIELD_VOTE("shared/keys", "shared/queue", "queue_entries", "yield_vote"),
    RELEASE("shared/keys", "release", "shared/queue", "queue_entries", "release_queued"),
    RELEASE_AFTER("shared/keys", "release_after", "shared/keep_grant", "shared/queue", "release_after_queued"),
    FORCE_RELEASE("shared/keys", "shared/queue", "queue_entries", "force_release"),
    RENEW("renew"),
    HANDSHAKE("notify_clients", "handshake"),
    READ_COUNTERS("read_counters"),
    LEAVE_QUARANTINE("notify_clients", "leave_quarantine");

    private final LuaScript script;

    RedlockScript(String... files) {
        script = LuaScript.of(file -> RedlockScript.class.getResourceAsStream(file), files);
    }

    /** Returns the script that is sent. */
    public LuaScript script() {
        return script;
    }
}
