// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockProvider;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the documents agree with the names in the code, and that their links are valid. */
@Tag("once")
class DocumentsTest {
    private static final Path ROOT = Path.of("..");
    private static final Set<String> BACKENDS = Set.of("memory", "redis", "redlock", "etcd", "zookeeper");
    private static final Pattern LOGGED =
            Pattern.compile("\\b(debug|trace|info|warn|error|atLevel)\\([^;]*?\"event=([a-z0-9-]+)");
    private static final Pattern THROTTLED = Pattern.compile("warnings(?:\\(\\))?\\s*\\.warn\\(\\s*\"([a-z-]+)\"");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9-]+)` \\| (?:INFO|WARN|ERROR)");
    private static final Pattern NESTED_HEIR = Pattern.compile("@Nested\\s[^{]*\\bextends\\b");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:\\s]+)(#[^)]*)?\\)");

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).toList();
        }
    }

    @Test
    void S18_theReferenceDescribesEachEventThatIsLoggedAboveDebug() throws IOException {
        Set<String> logged = new TreeSet<>();
        Set<String> libraries = new TreeSet<>(BACKENDS);
        libraries.addAll(Set.of("api", "spring", "spring-boot", "spring-integration", "shedlock", "micrometer"));
        for (String library : libraries) {
            for (Path source : files(ROOT.resolve("lock-" + library + "/src/main/java"), ".java")) {
                String code = read(source);
                LOGGED.matcher(code)
                        .results()
                        .filter(found -> !Set.of("debug", "trace").contains(found.group(1)))
                        .forEach(found -> logged.add(found.group(2)));
                THROTTLED.matcher(code).results().forEach(found -> logged.add(found.group(1)));
            }
        }
        Set<String> described = ROW.matcher(read(ROOT.resolve("docs/reference.md")))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(described).isEqualTo(logged).hasSizeGreaterThan(30);
    }

    @Test
    void S14_thePageOfABackendDescribesEachUrlParameter() {
        int providers = 0;
        for (LockProvider provider : ServiceLoader.load(LockProvider.class)) {
            String artifact = provider.getClass().getPackageName().replaceFirst(".*\\.lock\\.(\\w+).*", "$1");
            if (!BACKENDS.contains(artifact)) {
                continue; // a provider of the tests
            }
            providers++;
            String page = read(ROOT.resolve("docs/backends/" + artifact + ".md"));
            assertThat(provider.parameters())
                    .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
        }
        assertThat(providers).isEqualTo(BACKENDS.size());
    }

    @Test
    void linksPointToExistingFiles() throws IOException {
        List<Path> pages = Stream.concat(
                        files(ROOT.resolve("docs"), ".md").stream(),
                        Stream.of("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
                                .map(ROOT::resolve))
                .toList();
        List<String> broken = pages.stream()
                .flatMap(page -> LINK.matcher(read(page))
                        .results()
                        .map(found -> found.group(1))
                        .filter(target -> !Files.exists(page.resolveSibling(target)))
                        .map(target -> page + " -> " + target))
                .toList();
        assertThat(broken).isEmpty();
        assertThat(pages).hasSizeGreaterThan(50);
    }

    /** Otherwise CI's turns never reach the module's tests that only the long run has (ADR 0070). */
    @Test
    void eachModuleWithTestsOfTheLongRunBelongsToAPartOfIt() throws IOException {
        List<Path> withLongTests = new ArrayList<>();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(ROOT, "lock-*")) {
            for (Path module : modules) {
                Path tests = module.resolve("src/test/java");
                if (Files.exists(tests)
                        && files(tests, ".java").stream()
                                .anyMatch(file -> read(file).contains("@Tag(\"long\")"))) {
                    withLongTests.add(module.resolve("pom.xml"));
                }
            }
        }
        assertThat(withLongTests)
                .hasSizeGreaterThan(10)
                .allSatisfy(pom -> assertThat(read(pom))
                        .containsPattern("<excludedGroups>\\$\\{excluded\\.[1-7]}</excludedGroups>"));
    }

    /** Otherwise Surefire would report failed tests as flakes (ADR 0078). */
    @Test
    void modulesWhoseFailedTestsRunAgainSeeTheKitAndInheritNoTestIntoNestedClasses() throws IOException {
        int checked = 0;
        try (DirectoryStream<Path> poms = Files.newDirectoryStream(ROOT, "lock-*")) {
            for (Path module : poms) {
                String pom = read(module.resolve("pom.xml"));
                if (pom.contains("<test.reruns>2")) {
                    checked++;
                    assertThat(pom).as("%s", module).contains("<artifactId>lock-testkit</artifactId>");
                    assertThat(files(module.resolve("src/test/java"), ".java"))
                            .noneMatch(file -> NESTED_HEIR.matcher(read(file)).find());
                }
            }
        }
        assertThat(checked).isGreaterThan(5);
    }

    /** A level for a logger whose class was renamed would have no effect. */
    @Test
    void theLoggersThatLockctlConfiguresBelongToExistingClasses() throws ClassNotFoundException {
        String setup = read(Path.of("src/main/java/io/mortise/lock/cli/invocation/LoggingSetup.java"));
        List<String> loggers = Stream.concat(
                        Pattern.compile("\"log\\.(io\\.mortise[\\w.]*\\.[A-Z]\\w*)\"")
                                .matcher(setup)
                                .results()
                                .map(found -> found.group(1)),
                        Pattern.compile("\"([a-z]+\\.[A-Z]\\w+)\"")
                                .matcher(setup)
                                .results()
                                .map(found -> "io.mortise.lock.core." + found.group(1)))
                .toList();
        assertThat(loggers).hasSizeGreaterThan(3);
        for (String logger : loggers) {
            Class.forName(logger);
        }
    }

    @Test
    void theReadmeIsShort() {
        assertThat(read(ROOT.resolve("README.md")).split("\\s+")).hasSizeLessThanOrEqualTo(1500);
    }
}
