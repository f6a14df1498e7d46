// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
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
        TestGenerationContext generation = process();
        TestCompiler.forSystem().with(generation).compile(compiled -> {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, "mortise.url=memory:boot-aot");
                @SuppressWarnings("unchecked")
                ApplicationContextInitializer<GenericApplicationContext> initializer =
                        compiled.getInstance(ApplicationContextInitializer.class);
                initializer.initialize(context);
                context.refresh();
                assertThat(context.getBean(Shop.class).ship(new Order(7))).isTrue();
                context.getBean(LockTemplate.class).run("a", lease -> {});
            }
        });
    }

    @Test
    @CompileWithForkedClassLoader
    void lockedMethodsAndTheirParametersCanBeReflected() {
        RuntimeHints hints = process().getRuntimeHints();
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

    private static TestGenerationContext process() {
        TestGenerationContext generation = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, "mortise.url=memory:boot-aot");
            context.register(Application.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        generation.writeGeneratedContent();
        return generation;
    }
}
