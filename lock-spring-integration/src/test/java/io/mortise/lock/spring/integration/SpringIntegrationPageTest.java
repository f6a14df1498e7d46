// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.store.MessageGroupStore;
import org.springframework.integration.store.SimpleMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;

/** Tests that {@code docs/spring-integration.md} shows code of this class, and that the code works. */
class SpringIntegrationPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);
    private static final String HOST = "host-1";

    @Configuration(proxyBeanMethods = false)
    @EnableIntegration
    static class Flows {
        @Bean
        LockClient locks() {
            return Locks.connect("memory:orders");
        }

        @Bean
        MortiseLockRegistry lockRegistry(LockClient locks) {
            return new MortiseLockRegistry(locks);
        }

        @Bean
        LockRegistryLeaderInitiator leader(LockRegistry<?> lockRegistry) {
            return new LockRegistryLeaderInitiator(lockRegistry, new DefaultCandidate(HOST, "importer"));
        }

        @Bean
        IntegrationFlow orderFlow(LockRegistry<?> lockRegistry, MessageGroupStore groups) {
            return IntegrationFlow.from("parts")
                    .aggregate(order -> order.messageStore(groups).lockRegistry(lockRegistry))
                    .channel("orders")
                    .get();
        }

        @Bean
        MessageGroupStore groups() {
            return new SimpleMessageStore();
        }

        @Bean
        QueueChannel orders() {
            return new QueueChannel();
        }
    }

    record Order(int number) {}

    /** A table that records the tokens of its writers. */
    private static final class Table {
        final List<Long> tokens = new ArrayList<>();

        void write(Order order, long token) {
            assertThat(order.number()).isPositive();
            tokens.add(token);
        }
    }

    private static MortiseLockRegistry registryOfOrders(LockClient locks) {
        return // format
        new MortiseLockRegistry(
                locks,
                LockOptions.defaults().leaseDuration(Duration.ofSeconds(10)),
                key -> key instanceof Order order ? "orders/" + order.number() : "orders/" + key);
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void thePageShowsCodeOfThisClass() throws IOException {
        String source =
                Files.readString(Path.of("src/test/java", getClass().getName().replace('.', '/') + ".java"));
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/spring-integration.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks)
                .hasSize(4)
                .allSatisfy(block -> assertThat(withoutSpace(source)).contains(withoutSpace(block)));
    }

    @Test
    void theFlowCompletesOrdersAndTheApplicationLeads() {
        try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext(Flows.class)) {
            LockRegistryLeaderInitiator leader = application.getBean(LockRegistryLeaderInitiator.class);
            Await.until(
                    "it leads",
                    Duration.ofSeconds(30),
                    () -> leader.getContext().isLeader());
            assertThat(application
                            .getBean(LockClient.class)
                            .named("integration/importer")
                            .status()
                            .join()
                            .holders())
                    .hasSize(1);
            for (int number = 1; number <= 2; number++) {
                application.getBean("parts", MessageChannel.class).send(part(number));
            }
            assertThat(application.getBean("orders", QueueChannel.class).receive(30_000))
                    .isNotNull();
        }
    }

    private static Message<String> part(int number) {
        return MessageBuilder.withPayload("part " + number)
                .setCorrelationId("order")
                .setSequenceNumber(number)
                .setSequenceSize(2)
                .build();
    }

    @Test
    void keysCanBeNamedAndWritesCanBeFenced() throws Exception {
        try (LockClient client = Locks.connect("memory:" + UUID.randomUUID())) {
            MortiseLockRegistry locks = registryOfOrders(client);
            Table table = new Table();
            Order order = new Order(7);
            locks.executeLocked(
                    order, () -> table.write(order, locks.lease(order).fencingToken()));
            try (Lease next = client.named("orders/7").acquire()) {
                assertThat(table.tokens)
                        .singleElement()
                        .satisfies(token -> assertThat(token).isLessThan(next.fencingToken()));
            }
        }
    }
}
