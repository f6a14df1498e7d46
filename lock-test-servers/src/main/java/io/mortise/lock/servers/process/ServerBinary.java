// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.TestSettings;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds the server programs on the PATH, or at the path that a system property or environment variable gives. */
public final class ServerBinary {
    private ServerBinary() {}

    /**
     * Finds {@code redis-server}.
     *
     * @throws IllegalStateException if there is no such program; the message says in one line what to install
     */
    public static Path redis() {
        return find(
                "redis",
                "redis-server",
                "(Debian: apt-get install redis-server, macOS: brew install redis), or choose another program with"
                        + " -Dmortise.test.redis.binary=valkey-server, or a running server with"
                        + " -Dmortise.test.redis=redis://HOST:PORT");
    }

    /**
     * Finds {@code etcd}.
     *
     * @throws IllegalStateException if there is no such program; the message says in one line what to install
     */
    public static Path etcd() {
        return find(
                "etcd",
                "etcd",
                "(Debian: apt-get install etcd-server, macOS: brew install etcd), or choose another program with"
                        + " -Dmortise.test.etcd.binary=PATH, or a running server with"
                        + " -Dmortise.test.etcd=etcd://HOST:PORT");
    }

    private static Path find(String store, String program, String hint) {
        String name = TestSettings.get(store + ".binary").orElse(program);
        return onPath(name)
                .orElseThrow(() -> new IllegalStateException("No " + name + " on the PATH: install it " + hint));
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
