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

/** Options that are not on the command line: {@code MORTISE_URL}, then {@code url=} in a properties file. */
public final class DefaultOptions {
    /** The URL. What we run under a lock does not get it, as it may have a password. */
    public static final String URL = "MORTISE_URL";

    private static final String FILE = "MORTISE_CONFIG";
    private static final String KEY = "url";

    private final Map<String, String> environment;

    /** @param environment as of {@link System#getenv()} */
    public DefaultOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * The URL, of the environment or else of the file.
     *
     * @throws LockConfigurationException if the file cannot be read
     */
    public Optional<String> url() {
        return set(URL).or(this::urlInFile);
    }

    /** How to give a URL. */
    public String howTo() {
        String withheld = set("LOCK_OWNER").isPresent() ? " (lockctl run hands that on only with --keep-url)" : "";
        return "give --url URL, set " + URL + withheld + ", or write url=URL into " + file();
    }

    /** What the user is to know of the file that the URL comes from; empty: nothing, or it comes from elsewhere. */
    public Optional<String> warning() {
        Path file = file();
        if (set(URL).isPresent() || !isReadByOthers(file)) {
            return Optional.empty();
        }
        return urlInFile()
                .flatMap(url -> LockUrl.parse(url).password())
                .map(password -> "others may read " + file + ", which has a password in it: chmod go= " + file);
    }

    private static boolean isReadByOthers(Path file) {
        try {
            Set<PosixFilePermission> others =
                    EnumSet.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);
            others.retainAll(Files.getPosixFilePermissions(file));
            return !others.isEmpty();
        } catch (IOException | UnsupportedOperationException e) {
            return false; // there is no such file, or its permissions are of another kind
        }
    }

    private Optional<String> urlInFile() {
        Path file = file();
        if (!Files.exists(file)) {
            if (set(FILE).isPresent()) {
                throw new LockConfigurationException(FILE + " is " + file + ", which is not there");
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
                    file + " has unknown keys: " + String.join(", ", unknown) + "; the only one known is " + KEY);
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
