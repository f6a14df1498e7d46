// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.LockConfigurationException;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * What is not on the command line: {@code MORTISE_URL}, then {@code url=} in a file of properties, which a command line would
 * show to every user of the machine, with the password in it.
 */
public final class Defaults {
    private static final String URL = "MORTISE_URL";
    private static final String FILE = "MORTISE_CONFIG";

    private final Map<String, String> environment;

    /** @param environment as of {@link System#getenv()} */
    public Defaults(Map<String, String> environment) {
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
        return "give --url URL, set " + URL + ", or write url=URL into " + file();
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
        return Optional.ofNullable(properties.getProperty("url"))
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
