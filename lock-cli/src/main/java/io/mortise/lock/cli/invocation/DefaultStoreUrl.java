// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.LockUrl;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** Reads the default store URL from {@code MORTISE_URL} or a properties file, for command lines without {@code --url}. */
public final class DefaultStoreUrl {
    /** The variable with the URL. Commands that run under a lock do not inherit it, as the URL may contain a password. */
    public static final String URL = "MORTISE_URL";

    private static final String FILE = "MORTISE_CONFIG";
    private static final String KEY = "url";

    private final Map<String, String> environment;

    /** @param environment the environment variables, as from {@link System#getenv()} */
    public DefaultStoreUrl(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Returns the URL from the environment, or else from the file.
     *
     * @throws LockConfigurationException if the file cannot be read
     */
    public Optional<String> url() {
        return set(URL).or(this::urlInFile);
    }

    /** Returns a hint that explains how to specify a URL. */
    public String howTo() {
        String withheld = set("LOCK_OWNER").isPresent() ? " (lockctl run passes it on only with --keep-url)" : "";
        return "use --url URL, set " + URL + withheld + ", or write url=URL into " + file();
    }

    /** Returns a warning if the URL comes from a file that contains a password and is readable by other users. */
    public Optional<String> warning() {
        Path file = file();
        if (set(URL).isPresent() || !isReadByOthers(file)) {
            return Optional.empty();
        }
        return urlInFile()
                .flatMap(url -> LockUrl.parse(url).password())
                .map(password -> "other users can read " + file + ", which contains a password: run chmod go= " + file);
    }

    private static boolean isReadByOthers(Path file) {
        try {
            Set<PosixFilePermission> others =
                    EnumSet.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);
            others.retainAll(Files.getPosixFilePermissions(file));
            return !others.isEmpty();
        } catch (IOException | UnsupportedOperationException e) {
            return false; // the file does not exist, or the file system has no POSIX permissions
        }
    }

    private Optional<String> urlInFile() {
        Path file = file();
        if (!Files.exists(file)) {
            if (set(FILE).isPresent()) {
                throw new LockConfigurationException(
                        FILE + " names " + file + ", which does not exist: correct or unset " + FILE);
            }
            return Optional.empty();
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new LockConfigurationException("cannot read " + file + ": " + e);
        }
        Set<String> unknown = new TreeSet<>(properties.stringPropertyNames());
        unknown.remove(KEY);
        if (!unknown.isEmpty()) {
            throw new LockConfigurationException(
                    file + " has unknown keys: " + String.join(", ", unknown) + "; the only known key is " + KEY);
        }
        return Optional.ofNullable(properties.getProperty(KEY))
                .map(String::strip)
                .filter(url -> !url.isEmpty());
    }

    private Path file() {
        return set(FILE)
                .map(Path::of)
                .orElseGet(() -> set("XDG_CONFIG_HOME")
                        .map(Path::of)
                        .orElseGet(() -> Path.of(System.getProperty("user.home"), ".config"))
                        .resolve("mortise")
                        .resolve("lockctl.properties"));
    }

    private Optional<String> set(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
