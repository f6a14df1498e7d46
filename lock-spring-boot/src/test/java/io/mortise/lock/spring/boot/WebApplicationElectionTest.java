// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.TermEnd;
import io.mortise.lock.spring.ElectionLifecycle;
import io.mortise.lock.spring.TermEndedEvent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/** Tests an election in applications with a web server, which needs no configuration but its bean. */
@Timeout(300) // servers, perhaps on a busy machine
class WebApplicationElectionTest {
    /** What the leader gets from its own web server when it starts, and when it was stopped. */
    static final BlockingQueue<String> SEEN = new LinkedBlockingQueue<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        ElectionLifecycle leader(LockClient locks, Environment environment) {
            return new ElectionLifecycle(Election.on(locks.named("leader")), term -> {
                SEEN.add(metrics(environment));
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    SEEN.add(metrics(environment)); // before the graceful shutdown of the server
                }
            });
        }

        private static String metrics(Environment environment) throws Exception {
            URI uri = URI.create("http://127.0.0.1:" + environment.getProperty("local.server.port")
                    + "/actuator/metrics/mortise.election.leading");
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }

        @EventListener
        void ended(TermEndedEvent event) {
            SEEN.add(event.end().toString());
        }
    }

    private static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.port=0",
                        "mortise.url=memory:boot-election",
                        "management.endpoints.web.exposure.include=metrics",
                        "management.health.redis.enabled=false")
                .run();
    }

    private static String seen() throws InterruptedException {
        String seen = SEEN.poll(100, TimeUnit.SECONDS);
        assertThat(seen).as("something that a leader has seen").isNotNull();
        return seen;
    }

    @Test
    void aLeaderWorksWhileItsWebServerDoesAndHandsOverAtTheShutdown() throws Exception {
        try (ConfigurableApplicationContext one = start()) {
            assertThat(seen()).contains("mortise.election.leading").contains("\"value\":1.0");
            try (ConfigurableApplicationContext two = start()) {
                assertThat(two.getBean(ElectionLifecycle.class).isRunning()).isTrue();
                assertThat(SEEN).isEmpty();
                one.close();
                assertThat(List.of(seen(), seen()))
                        .as("the web server, and then the client, outlast the term")
                        .satisfiesExactly(
                                body -> assertThat(body).contains("\"value\":0.0"),
                                end -> assertThat(end).isEqualTo(TermEnd.CLOSED.toString()));
                assertThat(seen()).as("the other application leads").contains("\"value\":1.0");
            }
        }
    }
}
