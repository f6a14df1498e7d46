// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The tarball and the Debian package: made from the jar, unpacked or installed into a folder, and run. */
@Tag("once")
@Tag("long")
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
@EnabledOnOs(value = OS.LINUX, disabledReason = "GNU tar, dpkg")
class PackagesIT {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    Path dir = Path.of("");

    @Test
    @Timeout(120)
    void tarballHasAllThatIsNeededToRunAndToRead() throws Exception {
        Path tarball = made("packaging/tarball");
        assertThat(run(
                        "tar",
                        "--extract",
                        "--file",
                        tarball.toString(),
                        "--directory",
                        dir.toString(),
                        "--strip-components=1"))
                .isEmpty();

        assertThat(run(dir.resolve("bin/lockctl").toString(), "--version"))
                .singleElement()
                .asString()
                .startsWith("lockctl ");
        assertThat(dir.resolve("LICENSE")).isNotEmptyFile();
        completes(dir.resolve("share/bash-completion/completions/lockctl"), dir.resolve("share/zsh/site-functions"));
        assertThat(dir.resolve("share/man/man1/lockctl.1")).content().startsWith(".TH \"LOCKCTL\" \"1\"");
    }

    @Test
    @Timeout(120)
    void debianPackageInstallsAndRuns() throws Exception {
        Path deb = made("packaging/deb");
        String depends = String.join("", run("dpkg-deb", "--field", deb.toString(), "Depends"));
        assertThat(depends).isEqualTo("default-jre-headless (>= 2:1.17) | java17-runtime-headless");
        for (String folder : List.of("var/lib/dpkg/updates", "var/lib/dpkg/info", "var/log")) {
            Files.createDirectories(dir.resolve(folder));
        }
        Files.createFile(dir.resolve("var/lib/dpkg/status"));

        run(
                "dpkg",
                "--root=" + dir,
                "--log=" + dir.resolve("var/log/dpkg.log"),
                "--force-not-root,depends,script-chrootless,bad-path",
                "--install",
                deb.toString());
        assertThat(run(
                        "dpkg-query",
                        "--admindir=" + dir.resolve("var/lib/dpkg"),
                        "--show",
                        "--showformat=${Status}",
                        "lockctl"))
                .containsExactly("install ok installed");
        assertThat(run(dir.resolve("usr/bin/lockctl").toString(), "--version"))
                .singleElement()
                .asString()
                .startsWith("lockctl ");
        completes(
                dir.resolve("usr/share/bash-completion/completions/lockctl"),
                dir.resolve("usr/share/zsh/vendor-completions"));
        assertThat(dir.resolve("usr/share/man/man1/lockctl.1.gz")).isNotEmptyFile();

        run(
                "dpkg",
                "--root=" + dir,
                "--log=" + dir.resolve("var/log/dpkg.log"),
                "--force-not-root,bad-path",
                "--purge",
                "lockctl");
        assertThat(dir.resolve("usr/lib/lockctl")).doesNotExist();
    }

    private void completes(Path bash, Path zshFolder) throws Exception {
        assertThat(run("bash", "-c", "source '" + bash + "' && complete -p lockctl"))
                .singleElement()
                .asString()
                .contains("_complete_lockctl");
        assertThat(run(
                        "zsh",
                        "-f",
                        "-c",
                        "fpath=('" + zshFolder
                                + "' $fpath); autoload -Uz compinit && compinit -D -u && echo $_comps[lockctl]"))
                .containsExactly("_lockctl");
        assertThat(run("zsh", "-n", zshFolder.resolve("_lockctl").toString())).isEmpty();
    }

    /** The file that one of the scripts makes from the jar that is there. */
    private Path made(String script) throws Exception {
        List<String> said = run(ROOT.resolve(script).toString(), "--no-build");
        assertThat(said).hasSize(1);
        return ROOT.resolve(said.get(0));
    }

    /** What it wrote, on either output; it must succeed. */
    private List<String> run(String... command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("said", "");
        try {
            ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(List.of(command)));
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().put("XDG_CACHE_HOME", dir.resolve("cache").toString());
            int code = builder.redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start()
                    .waitFor();
            List<String> lines = Files.readAllLines(said);
            assertThat(code).as("%s: %s", List.of(command), lines).isZero();
            return lines;
        } finally {
            Files.delete(said);
        }
    }
}
