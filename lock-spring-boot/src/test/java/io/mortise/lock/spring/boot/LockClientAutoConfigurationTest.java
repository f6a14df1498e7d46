// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** Tests which client there is, with which options, and how a start that fails is explained. */
class LockClientAutoConfigurationTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(LockClientAutoConfiguration.class, LockingAutoConfiguration.class));

    @Test
    void theUrlOpensAClientWhichTheContextCloses() {
        AtomicReference<@Nullable LockClient> client = new AtomicReference<>();
        application.withPropertyValues("mortise.url=memory:boot-url").run(context -> {
            client.set(context.getBean(LockClient.class));
            assertThat(context.getBean(LockTemplate.class).<Boolean, RuntimeException>call("a", Lease::isHeld))
                    .isTrue();
        });
        LockClient closed = Objects.requireNonNull(client.get());
        assertThatThrownBy(() -> closed.named("a").tryAcquire()).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void S19_thePropertiesShowNoSecretOfTheUrl() {
        for (String url : List.of("redis://user:secret@host:6379", "redis://user:secret@host:odd:6379?x", "secret")) {
            LockProperties properties = new LockProperties(
                    url,
                    null,
                    null,
                    null,
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(2),
                    null,
                    new LockProperties.Locked(Duration.ZERO));
            assertThat(properties)
                    .asString()
                    .contains("***", "requestTimeout=PT2S")
                    .doesNotContain("secret");
        }
    }

    @Test
    void backsOffForAClientOfTheApplication() {
        application
                .withPropertyValues("mortise.url=redis://unused.invalid:1")
                .withBean("own", LockClient.class, () -> Locks.connect("memory:boot-own"))
                .run(context -> {
                    assertThat(context).getBeanNames(LockClient.class).containsExactly("own");
                    assertThat(context).hasSingleBean(LockTemplate.class);
                });
    }

    @Test
    void listenersAndCustomizersAreApplied() {
        List<String> observed = new CopyOnWriteArrayList<>();
        LockListener listener = (backend, name) -> {
            observed.add(backend + " " + name);
            return null;
        };
        LockListener added = (backend, name) -> {
            observed.add("added");
            return null;
        };
        application
                .withPropertyValues("mortise.url=memory:boot-listener")
                .withBean(LockListener.class, () -> listener)
                .withBean(ClientOptionsCustomizer.class, () -> options -> options.listener(added))
                .run(context -> {
                    context.getBean(LockTemplate.class).run("a", lease -> {});
                    assertThat(observed).containsExactly("memory a", "added");
                });
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void callbacksRunOnVirtualThreadsIfTheApplicationHasThem() {
        application
                .withPropertyValues("mortise.url=memory:boot-virtual", "spring.threads.virtual.enabled=true")
                .run(context -> {
                    CompletableFuture<String> thread = context.getBean(LockClient.class)
                            .named("a")
                            .callAsync(lease -> CompletableFuture.completedFuture(
                                    Thread.currentThread().getName()))
                            .toCompletableFuture();
                    assertThat(thread.get(20, TimeUnit.SECONDS)).startsWith("mortise-callback-");
                });
    }

    /** A bean of a child context. */
    static class Worker {
        @Locked(name = "work")
        public boolean excludes(LockClient other) throws InterruptedException {
            return other.named("work").tryAcquire().isEmpty();
        }
    }

    @Test
    void aChildContextUsesTheClientOfItsParent() {
        application.withPropertyValues("mortise.url=memory:boot-parent").run(parent -> {
            LockClient client = parent.getBean(LockClient.class);
            application
                    .withConfiguration(AutoConfigurations.of(
                            LockHealthAutoConfiguration.class, LocksEndpointAutoConfiguration.class))
                    .withParent(parent)
                    .withPropertyValues("mortise.url=memory:boot-child", "management.endpoints.web.exposure.include=*")
                    .withBean(Worker.class)
                    .run(child -> {
                        assertThat(child).hasNotFailed();
                        assertThat(child.getBeanFactory().getBeanNamesForType(LockClient.class))
                                .isEmpty();
                        assertThat(child.getBean(LockClient.class)).isSameAs(client);
                        assertThat(child.getBean(Worker.class).excludes(client)).isTrue();
                        assertThat(child.getBean(LocksEndpoint.class)
                                        .locks("work", null, null, null)
                                        .locks())
                                .hasSize(1);
                        assertThat(child.getBean("mortiseHealthContributor")).isInstanceOf(HealthIndicator.class);
                    });
            assertThat(client.named("a").tryAcquire()).isPresent();
        });
    }

    @Test
    void theFailureOfARunnerIsNotTakenForOneOfTheStart() {
        MemoryStore store = MemoryStore.create();
        SpringApplication failing = new SpringApplicationBuilder(FailingRunner.class)
                .web(WebApplicationType.NONE)
                .initializers((GenericApplicationContext context) -> {
                    context.registerBean(MemoryStore.class, () -> store);
                    context.registerBean(LockClient.class, () -> MemoryLocks.connect(store, ClientOptions.defaults()));
                })
                .build();
        assertThatThrownBy(failing::run)
                .isInstanceOf(LeaseLostException.class)
                .satisfies(failure ->
                        assertThat(new LockFailureAnalyzer().analyze(failure)).isNull());
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockingAutoConfiguration.class)
    static class FailingRunner {
        @Bean
        ApplicationRunner losesItsLease(LockTemplate locks, MemoryStore store) {
            return arguments -> locks.run("import", lease -> store.faults().remove("import"));
        }
    }

    @Test
    void aMissingStoreIsExplained() {
        application.run(context -> assertThat(analysis(context).getAction())
                .contains("mortise.url")
                .contains("io.mortise:lock-redis"));
    }

    @Test
    void aMissingModuleIsNamed() {
        application
                .withPropertyValues("mortise.url=redlock://a:1,b:1,c:1")
                .run(context -> assertThat(analysis(context).getDescription()).contains("add io.mortise:lock-redlock"));
    }

    @Test
    void S15_aStoreThatDoesNotRespondIsExplained() {
        application
                .withPropertyValues("mortise.url=redis://127.0.0.1:1", "mortise.connect-timeout=300ms")
                .run(context -> {
                    assertThat(analysis(context).getDescription()).contains("127.0.0.1:1");
                    assertThat(analysis(context).getAction()).contains("mortise.connect-timeout");
                });
    }

    @ParameterizedTest
    @CsvSource({
        "mortise.connect-timeout, 0s",
        "mortise.request-timeout, -1s",
        "mortise.unavailable-after, 0s",
        "mortise.locked.max-wait, -1s",
        "mortise.url, ' '",
        "mortise.namespace, other:",
        "mortise.lease-duration, 20s",
        "mortise.wait-replicas, 1",
    })
    void S14_aBadPropertyIsNamed(String property, String value) {
        application
                .withPropertyValues("mortise.url=memory:boot-bad", property + "=" + value)
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining(property.trim()));
    }

    @Test
    void methodsWaitAsTheirPropertySays() {
        application
                .withPropertyValues("mortise.url=memory:boot-wait", "mortise.locked.max-wait=PT0S")
                .run(context -> {
                    try (Lease held = context.getBean(LockClient.class)
                            .named("a")
                            .tryAcquire()
                            .orElseThrow()) {
                        assertThat(context.getBean(LockTemplate.class).tryRun("a", lease -> {}))
                                .isFalse();
                        assertThat(held.isHeld()).isTrue();
                    }
                });
    }

    private static FailureAnalysis analysis(AssertableApplicationContext context) {
        Throwable failure = Objects.requireNonNull(context.getStartupFailure());
        FailureAnalysis analysis = new LockFailureAnalyzer().analyze(failure);
        return Objects.requireNonNull(
                analysis == null ? new LockConnectionFailureAnalyzer().analyze(failure) : analysis);
    }
}
