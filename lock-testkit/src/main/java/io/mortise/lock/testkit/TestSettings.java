// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads settings of a test run, such as a server's address, from system properties or environment variables. */
public final class TestSettings {
    private TestSettings() {}

    /**
     * Returns the system property {@code mortise.test.NAME}, else the environment variable {@code MORTISE_TEST_NAME}; empty if
     * neither is set.
     *
     * @param name such as {@code zookeeper} or {@code redis.binary}; a dot is replaced by an underscore in the environment
     *     variable
     */
    public static Optional<String> get(String name) {
        return Stream.of(
                        Optional.ofNullable(System.getProperty("mortise.test." + name)),
                        Optional.ofNullable(System.getenv(
                                "MORTISE_TEST_" + name.toUpperCase(Locale.ROOT).replace('.', '_'))))
                .flatMap(Optional::stream)
                .filter(value -> !value.isBlank())
                .findFirst();
    }
}
