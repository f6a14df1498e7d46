// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** Tests that a context that was processed ahead of time locks its methods, and the hints for a native image. */
@Timeout(300) // compilers and servers, perhaps on a busy machine
class AotTest {
    /** An argument whose property is part of a name. */
    public record Order(long id) {}

    /** A bean with a locked method. */
    public static class Shop {
        /** Returns the name of the lock that the call holds. */
        @Locked(name = "'order/' + #order.id")
        public boolean ship(Order order) {
            return CurrentLease.get("order/" + order.id()).isHeld();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({LockClientAutoConfiguration.class, LockingAutoConfiguration.class})
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    @Test
    @CompileWithForkedClassLoader
    void aContextThatWasProcessedAheadOfTimeLocksItsMethods() {
        start(Application.class, context -> {
            context.refresh();
            assertThat(context.getBean(Shop.class).ship(new Order(7))).isTrue();
            context.getBean(LockTemplate.class).run("a", lease -> {});
        });
    }

    /** A bean whose lock a proxy cannot apply. */
    public static class Wrong {
        @Locked(name = "wrong")
        public final void call() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({LockClientAutoConfiguration.class, LockingAutoConfiguration.class})
    static class WrongApplication {
        @Bean
        Wrong wrong() {
            return new Wrong();
        }
    }

    @Test
    @CompileWithForkedClassLoader
    void beansAreCheckedAfterProcessingAheadOfTimeToo() {
        start(
                WrongApplication.class,
                context -> assertThatThrownBy(context::refresh)
                        .isInstanceOf(LockConfigurationException.class)
                        .hasMessageContaining("final"));
    }

    @Test
    @CompileWithForkedClassLoader
    void lockedMethodsAndTheirParametersCanBeReflected() {
        RuntimeHints hints = process(Application.class).getRuntimeHints();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(Order.class)
                        .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Shop.class, "ship"))
                .accepts(hints);
    }

    @Test
    void providersAndScriptsAreFound() {
        RuntimeHints hints = new RuntimeHints();
        new LockRuntimeHints().registerHints(hints, getClass().getClassLoader());
        assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/services/io.mortise.lock.spi.LockProvider"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.resource().forResource("io/mortise/lock/redis/acquire.lua"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.resource().forResource("io/mortise/lock/redis/script/shared/queue.lua"))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(TypeReference.of("io.mortise.lock.redis.RedisProvider"))
                        .withMemberCategory(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS))
                .accepts(hints);
    }

    /** Processes an application ahead of time, and hands the context to be refreshed to the test. */
    private static void start(Class<?> application, Consumer<GenericApplicationContext> test) {
        TestCompiler.forSystem().with(process(application)).compile(compiled -> {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, "mortise.url=memory:boot-aot");
                @SuppressWarnings("unchecked")
                ApplicationContextInitializer<GenericApplicationContext> initializer =
                        compiled.getInstance(ApplicationContextInitializer.class);
                initializer.initialize(context);
                test.accept(context);
            }
        });
    }

    private static TestGenerationContext process(Class<?> application) {
        TestGenerationContext generation = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, "mortise.url=memory:boot-aot");
            context.register(application);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        generation.writeGeneratedContent();
        return generation;
    }
}
