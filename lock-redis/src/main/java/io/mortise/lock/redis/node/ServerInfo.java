// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import java.util.Optional;

/** Parses the reply to Redis' {@code INFO} command. */
public final class ServerInfo {
    private ServerInfo() {}

    /** Returns the value of one field; empty if the reply does not contain it. */
    public static Optional<String> field(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).trim())
                .findFirst();
    }
}
