// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DefaultStoreUrlTest {
    @TempDir
    private Path home = Path.of("");

    private String file(String text) throws IOException {
        return Files.writeString(home.resolve("some.properties"), text).toString();
    }

    @Test
    void theEnvironmentTakesPrecedenceOverTheFile() throws IOException {
        String file = file("url=memory:file\n");
        assertThat(new DefaultStoreUrl(Map.of("MORTISE_URL", "memory:env", "MORTISE_CONFIG", file)).url())
                .contains("memory:env");
        assertThat(new DefaultStoreUrl(Map.of("MORTISE_URL", " ", "MORTISE_CONFIG", file)).url())
                .contains("memory:file");
    }

    @Test
    void theFileIsInTheConfigurationFolder() throws IOException {
        Files.createDirectories(home.resolve("mortise"));
        Files.writeString(home.resolve("mortise/lockctl.properties"), "# ours\nurl = redis://:p@h:1/2?lease=5s \n");
        assertThat(new DefaultStoreUrl(Map.of("XDG_CONFIG_HOME", home.toString())).url())
                .contains("redis://:p@h:1/2?lease=5s");
    }

    @Test
    void theFileIsOptional() throws IOException {
        DefaultStoreUrl none = new DefaultStoreUrl(Map.of("XDG_CONFIG_HOME", home.toString()));
        assertThat(none.url()).isEmpty();
        assertThat(none.howTo())
                .contains(
                        "--url",
                        "MORTISE_URL",
                        home.resolve("mortise/lockctl.properties").toString());
        assertThat(new DefaultStoreUrl(Map.of("MORTISE_CONFIG", file("# nothing\n"))).url())
                .isEmpty();
    }

    @Test
    void anUnknownKeyIsNamed() throws IOException {
        String file = file("url=memory:x\nlaese=5s\n");
        assertThatThrownBy(() -> new DefaultStoreUrl(Map.of("MORTISE_CONFIG", file)).url())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessage(file + " has unknown keys: laese; the only known key is url");
    }

    @ParameterizedTest
    @CsvSource({
        "rw-r-----, redis://:p@h:1, true",
        "rw----r--, redis://:p@h:1, true",
        "rw-------, redis://:p@h:1, false",
        "rw-r--r--, redis://h:1, false"
    })
    void S19_aPasswordThatOthersCanReadCausesAWarning(String permissions, String url, boolean warned)
            throws IOException {
        String file = file("url=" + url + "\n");
        Files.setPosixFilePermissions(Path.of(file), PosixFilePermissions.fromString(permissions));
        String expected = "other users can read " + file + ", which contains a password: run chmod go= " + file;
        assertThat(new DefaultStoreUrl(Map.of("MORTISE_CONFIG", file)).warning())
                .isEqualTo(warned ? Optional.of(expected) : Optional.empty());
        assertThat(new DefaultStoreUrl(Map.of("MORTISE_CONFIG", file, "MORTISE_URL", "memory:x")).warning())
                .as("the URL does not come from the file")
                .isEmpty();
    }

    @Test
    void aFileNamedByTheEnvironmentMustBeReadable() throws IOException {
        assertThatThrownBy(() -> new DefaultStoreUrl(
                                Map.of("MORTISE_CONFIG", home.resolve("no").toString()))
                        .url())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("MORTISE_CONFIG", home.resolve("no"), "does not exist");
        String broken = file("url=\\uZZZZ");
        assertThatThrownBy(() -> new DefaultStoreUrl(Map.of("MORTISE_CONFIG", broken)).url())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("cannot read " + broken);
    }
}
