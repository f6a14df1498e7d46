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

/** Tests of the tarball and the Debian package, which are built from the jar, installed into a folder, and run. */
@Tag("once")
@Tag("long")
@EnabledIfSystemProperty(
        named = "lockctl.jar",
        matches = ".+",
        disabledReason = "the jar is built after the other tests")
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs GNU tar and dpkg")
class PackagesIT {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    Path dir = Path.of("");

    @Test
    @Timeout(120)
    void tarballContainsProgramManualAndCompletion() throws Exception {
        Path tarball = build("packaging/tarball");
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
        assertCompletionWorks(
                dir.resolve("share/bash-completion/completions/lockctl"), dir.resolve("share/zsh/site-functions"));
        assertThat(dir.resolve("share/man/man1/lockctl.1")).content().startsWith(".TH \"LOCKCTL\" \"1\"");
    }

    @Test
    @Timeout(120)
    void debianPackageInstallsAndRuns() throws Exception {
        Path deb = build("packaging/deb");
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
        assertCompletionWorks(
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

    private void assertCompletionWorks(Path bash, Path zshFolder) throws Exception {
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

    /** Runs a packaging script with the existing jar; returns the file that it creates. */
    private Path build(String script) throws Exception {
        List<String> output = run(ROOT.resolve(script).toString(), "--no-build");
        assertThat(output).hasSize(1);
        return ROOT.resolve(output.get(0));
    }

    /** Runs a command that must succeed; returns the lines of both standard output and standard error. */
    private List<String> run(String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", "");
        try {
            ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(List.of(command)));
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().put("XDG_CACHE_HOME", dir.resolve("cache").toString());
            int code = builder.redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start()
                    .waitFor();
            List<String> lines = Files.readAllLines(output);
            assertThat(code).as("%s: %s", List.of(command), lines).isZero();
            return lines;
        } finally {
            Files.delete(output);
        }
    }
}
