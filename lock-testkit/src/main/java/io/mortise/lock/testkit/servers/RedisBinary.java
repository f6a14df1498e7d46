// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds the program that serves Redis. */
final class RedisBinary {
    private static final String DEFAULT = "redis-server";

    private RedisBinary() {}

    /** @throws IllegalStateException if there is none; it says in one line what to install */
    static Path find() {
        String wanted = TestServers.given("redis.binary").orElse(DEFAULT);
        return onPath(wanted)
                .orElseThrow(() -> new IllegalStateException("No " + wanted
                        + " on the PATH: install it (Debian: apt-get install redis-server, macOS: brew install redis), or name"
                        + " another program by -Dmortise.test.redis.binary=valkey-server, or a server that runs by"
                        + " -Dmortise.test.redis=redis://HOST:PORT"));
    }

    private static Optional<Path> onPath(String program) {
        if (program.contains(File.separator)) {
            return Optional.of(Path.of(program)).filter(Files::isExecutable);
        }
        return Arrays.stream(
                        Optional.ofNullable(System.getenv("PATH")).orElse("").split(Pattern.quote(File.pathSeparator)))
                .filter(dir -> !dir.isBlank())
                .map(dir -> Path.of(dir, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
