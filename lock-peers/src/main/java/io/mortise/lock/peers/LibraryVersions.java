// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.Properties;

/** Looks up the versions of the compared lock libraries, which the build writes to a properties file. */
final class LibraryVersions {
    private static final Properties ALL = load();

    private LibraryVersions() {}

    private static Properties load() {
        Properties all = new Properties();
        try (InputStream in = LibraryVersions.class.getResourceAsStream("versions.properties")) {
            all.load(Optional.ofNullable(in).orElseThrow());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }

    /** Returns the version of a library that {@code versions.properties} lists. */
    static String of(String artifactId) {
        return Optional.ofNullable(ALL.getProperty(artifactId)).orElseThrow();
    }
}
