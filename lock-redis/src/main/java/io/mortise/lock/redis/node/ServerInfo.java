// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import java.util.Optional;

/** Parses the reply of {@code INFO}. */
public final class ServerInfo {
    private ServerInfo() {}

    /** The value of one field, if the server tells it. */
    public static Optional<String> field(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).trim())
                .findFirst();
    }
}
