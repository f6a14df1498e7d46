// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spring.LockTemplate;
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
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

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
