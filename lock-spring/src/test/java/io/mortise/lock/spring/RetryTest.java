// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.MethodCall;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Configuration;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;

/** Tests that each attempt of a method that is repeated has a lease of its own. */
class RetryTest {
    @Configuration(proxyBeanMethods = false)
    @EnableRetry
    static class RetryInside {}

    @Configuration(proxyBeanMethods = false)
    @EnableRetry(order = EnableLocking.DEFAULT_ORDER - 1)
    static class RetryOutside {}

    static class Flaky {
        final List<String> owners = new ArrayList<>();

        @Retryable(maxAttempts = 3)
        @Locked(name = "flaky", maxWait = "0s")
        public List<String> call() {
            owners.add(CurrentLease.get().ownerId());
            if (owners.size() < 3) {
                throw new IllegalStateException("attempt " + owners.size());
            }
            return owners;
        }
    }

    @Test
    void springRetryInsideTheLockStopsTheStart() {
        assertThatThrownBy(
                        () -> LockContext.start(RetryInside.class, Flaky.class).close())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("Flaky.call")
                .hasMessageContaining("@EnableRetry(order = EnableLocking.DEFAULT_ORDER - 1)");
    }

    @Test
    void eachAttemptOfSpringRetryTakesANewLease() {
        try (LockContext context = LockContext.start(RetryOutside.class, Flaky.class)) {
            assertThat(context.bean(Flaky.class).call()).hasSize(3).doesNotHaveDuplicates();
            assertThat(context.isFree("flaky")).isTrue();
        }
    }

    /** Does what {@link Flaky} does, for the annotation of Spring 7, which is not there to compile against. */
    public static final class Attempts {
        private static final List<String> OWNERS = new ArrayList<>();

        private Attempts() {}

        public static Object record() {
            OWNERS.add(CurrentLease.get().ownerId());
            if (OWNERS.size() < 3) {
                throw new IllegalStateException("attempt " + OWNERS.size());
            }
            return OWNERS;
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "mortise.test.spring", matches = "7.*")
    void eachAttemptOfSpring7TakesANewLease() throws Exception {
        Class<?> flaky = new ByteBuddy()
                .subclass(Object.class)
                .name(getClass().getPackageName() + ".FlakyOnSpring7")
                .defineMethod("call", Object.class, Visibility.PUBLIC)
                .intercept(MethodCall.invoke(Attempts.class.getMethod("record")))
                .annotateMethod(
                        AnnotationDescription.Builder.ofType(Locked.class)
                                .define("name", "flaky")
                                .define("maxWait", "0s")
                                .build(),
                        AnnotationDescription.Builder.ofType(
                                        type("org.springframework.resilience.annotation.Retryable", Annotation.class))
                                .define("delay", 1L)
                                .build())
                .make()
                .load(getClass().getClassLoader(), ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup()))
                .getLoaded();
        Class<?> retries = type(
                "org.springframework.resilience.annotation.RetryAnnotationBeanPostProcessor", BeanPostProcessor.class);
        try (LockContext context = LockContext.start(retries, flaky)) {
            Object bean = context.bean(flaky);
            bean.getClass().getMethod("call").invoke(bean);
            assertThat(Attempts.OWNERS).hasSize(3).doesNotHaveDuplicates();
            assertThat(context.isFree("flaky")).isTrue();
        }
    }

    private static <T> Class<? extends T> type(String name, Class<T> supertype) throws ClassNotFoundException {
        return Class.forName(name).asSubclass(supertype);
    }
}
