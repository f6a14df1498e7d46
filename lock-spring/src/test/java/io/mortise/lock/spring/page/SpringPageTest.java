// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** Tests that {@code docs/spring.md} shows code of this package, and that the code works. */
class SpringPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {}

    @Test
    void thePageShowsTheCodeOfThisPackage() throws IOException {
        StringBuilder code = new StringBuilder();
        Path folder = Path.of("src/test/java", getClass().getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                code.append(Files.readString(file));
            }
        }
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/spring.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks)
                .hasSize(9)
                .allSatisfy(block -> assertThat(withoutSpace(code)).contains(withoutSpace(block)));
    }

    private static String withoutSpace(CharSequence text) {
        return text.toString().replaceAll("\\s+", "");
    }

    @Test
    void theCodeWorks() throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("test", Map.of("locks.url", "memory:" + UUID.randomUUID())));
            context.register(LockConfiguration.class, PageSnippets.TestLocks.class, PageSnippets.Retries.class);
            context.register(TestDatabase.class, Transactions.class, ShippingService.class);
            context.register(PageSnippets.Reports.class, PageSnippets.Accounts.class);
            context.register(PageSnippets.Elections.class, PageSnippets.TermLog.class);
            context.refresh();

            assertThat(context.getBean(LockClient.class)).isSameAs(context.getBean("memoryLocks"));
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("CREATE TABLE orders (id VARCHAR(9), state VARCHAR(9), token BIGINT)");
            jdbc.update("INSERT INTO orders VALUES ('42', 'PAID', 0)");
            ShippingService shipping = context.getBean(ShippingService.class);
            assertThat(shipping.ship(new Order("42"))).isEqualTo(1);
            assertThat(shipping.ship(new Order("43"))).isZero();

            PageSnippets.Reports reports = context.getBean(PageSnippets.Reports.class);
            reports.report();
            assertThat(PageSnippets.templates(context.getBean(LockTemplate.class), new PageSnippets.Mail()))
                    .isTrue();
            assertThat(context.getBean(PageSnippets.Accounts.class).book("7").block(Duration.ofSeconds(30)))
                    .isPositive();

            assertThat(context.getBean(PageSnippets.Jobs.class).epochs.poll(30, TimeUnit.SECONDS))
                    .isPositive();
            List<String> log = context.getBean(PageSnippets.TermLog.class).log;
            context.close();
            assertThat(log).containsExactly("leads scheduler", "ended: CLOSED");
        }
    }
}
