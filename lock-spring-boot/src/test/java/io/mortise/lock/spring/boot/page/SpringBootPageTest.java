// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.spring.boot.LockClientAutoConfiguration;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests that {@code docs/spring-boot.md} shows code of this package and all properties, and that the code works. */
class SpringBootPageTest {
    private static final Path PAGE = Path.of("../docs/spring-boot.md");
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `((?:mortise|management)\\.[a-z.-]+)` \\|");

    @Test
    void thePageShowsTheCodeOfThisPackage() throws IOException {
        StringBuilder code = new StringBuilder();
        Path folder = Path.of("src/test/java", getClass().getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                code.append(Files.readString(file));
            }
        }
        List<String> blocks = BLOCK.matcher(Files.readString(PAGE))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks)
                .hasSize(3)
                .allSatisfy(block -> assertThat(withoutSpace(code)).contains(withoutSpace(block)));
    }

    private static String withoutSpace(CharSequence text) {
        return text.toString().replaceAll("\\s+", "");
    }

    @Test
    void thePageShowsAllPropertiesWithADescription() throws IOException {
        TreeSet<String> known = new TreeSet<>();
        try (InputStream json =
                LockClientAutoConfiguration.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            JsonNode metadata = JsonMapper.builder().build().readTree(Objects.requireNonNull(json));
            for (JsonNode property : metadata.get("properties")) {
                known.add(property.get("name").asString());
                assertThat(property.path("description").asString(""))
                        .as(property.toString())
                        .isNotEmpty();
            }
        }
        known.remove("management.endpoint.locks.cache.time-to-live"); // each endpoint has it
        TreeSet<String> shown = new TreeSet<>();
        ROW.matcher(Files.readString(PAGE)).results().forEach(row -> shown.add(row.group(1)));
        assertThat(shown).isEqualTo(known);
    }

    @Test
    void theCustomizerWorksBesideTheExecutorOfSpringBoot() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(TaskExecutionAutoConfiguration.class, LockClientAutoConfiguration.class))
                .withUserConfiguration(LockOptionsConfiguration.class)
                .withPropertyValues("mortise.url=memory:boot-page")
                .run(context -> {
                    CompletableFuture<String> thread = context.getBean(LockClient.class)
                            .named("a")
                            .callAsync(lease -> CompletableFuture.completedFuture(
                                    Thread.currentThread().getName()))
                            .toCompletableFuture();
                    assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("lock-callback-");
                    assertThat(context).hasBean("applicationTaskExecutor");
                });
    }
}
