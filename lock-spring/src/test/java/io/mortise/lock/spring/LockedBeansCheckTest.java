// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import java.util.Collections;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import reactor.core.publisher.Mono;

/** Tests that an application whose locks would not work does not start. */
class LockedBeansCheckTest {
    static class PrivateMethod {
        @SuppressWarnings("UnusedMethod") // by the check alone
        @Locked(name = "x")
        private void call() {}
    }

    static class StaticMethod {
        @Locked(name = "x")
        public static void call() {}
    }

    static class FinalMethod {
        @Locked(name = "x")
        public final void call() {}
    }

    static class Suspend {
        @Locked(name = "x")
        public Object call(Continuation<? super String> continuation) {
            return continuation;
        }
    }

    static class SkippedInt {
        @Locked(name = "x", busy = BusyPolicy.SKIP)
        public int call() {
            return 1;
        }
    }

    static class SkippedString {
        @Locked(name = "x", busy = BusyPolicy.SKIP)
        public String call() {
            return "";
        }
    }

    static class SkippedStage {
        @Locked(name = "x", busy = BusyPolicy.SKIP)
        public CompletableFuture<String> call() {
            return new CompletableFuture<>();
        }
    }

    static class PlainFuture {
        @Locked(name = "x")
        public Future<String> call() {
            return new CompletableFuture<>();
        }
    }

    static class PlainPublisher {
        @Locked(name = "x")
        public Publisher<String> call() {
            return subscriber -> {};
        }
    }

    interface OwnPublisher extends Flow.Publisher<String> {}

    static class FlowPublisher {
        @Locked(name = "x")
        public OwnPublisher call() {
            return subscriber -> {};
        }
    }

    interface OwnStage extends CompletionStage<String> {}

    static class StageSubtype {
        @Locked(name = "x")
        public OwnStage call() {
            throw new UnsupportedOperationException();
        }
    }

    static class LazyStream {
        @Locked(name = "x")
        public Stream<String> call() {
            return Stream.empty();
        }
    }

    static class LazyIterator {
        @Locked(name = "x")
        public Iterator<String> call() {
            return Collections.emptyIterator();
        }
    }

    static class WrappedFuture {
        @Locked(name = "x")
        public Optional<Future<String>> call() {
            return Optional.empty();
        }
    }

    static class StreamLater {
        @Locked(name = "x")
        public CompletableFuture<Stream<String>> call() {
            return new CompletableFuture<>();
        }
    }

    static class OptionalStreamLater {
        @Locked(name = "x")
        public CompletableFuture<Optional<Stream<String>>> call() {
            return new CompletableFuture<>();
        }
    }

    static class NestedStream {
        @Locked(name = "x")
        public Optional<? extends Optional<? extends Stream<String>>> call() {
            return Optional.empty();
        }
    }

    /** A type as those of Mutiny are, which are known to Spring by an adapter. */
    static final class AdaptedType {}

    static class Adapted {
        @Locked(name = "x")
        public AdaptedType call() {
            return new AdaptedType();
        }
    }

    abstract static class GenericBase<T> {
        @Locked(name = "x")
        public T call() {
            throw new UnsupportedOperationException();
        }
    }

    static class GenericFuture extends GenericBase<Future<String>> {}

    interface GenericJob<T> {
        @Locked(name = "x")
        T call();
    }

    static class BridgedFuture implements GenericJob<Future<String>> {
        @Override
        public Future<String> call() {
            return new CompletableFuture<>();
        }
    }

    static class LaterCall {
        @Locked(name = "x")
        public Callable<String> call() {
            return () -> "";
        }
    }

    static class EmptyName {
        @Locked(name = "")
        public void call() {}
    }

    static class UnknownParameter {
        @Locked(name = "'order/' + #odrer")
        public void call(String order) {}
    }

    static class BadExpression {
        @Locked(name = "order/#{#order}")
        public void call(String order) {}
    }

    static class BadWait {
        @Locked(name = "x", maxWait = "5")
        public void call() {}
    }

    static class BadLease {
        @Locked(name = "x", leaseDuration = "2h")
        public void call() {}
    }

    static class BadPlaceholder {
        @Locked(name = "x-${missing}")
        public void call() {}
    }

    static class UnknownClient {
        @Locked(name = "x", client = "missing")
        public void call() {}
    }

    private static LockConfigurationException startFails(Class<?>... beans) {
        LockConfigurationException[] failure = new LockConfigurationException[1];
        assertThatThrownBy(() -> LockContext.start(beans).close())
                .isInstanceOfSatisfying(LockConfigurationException.class, e -> failure[0] = e);
        return failure[0];
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                PrivateMethod.class, StaticMethod.class, FinalMethod.class, Suspend.class, SkippedInt.class,
                SkippedString.class, SkippedStage.class, PlainFuture.class, PlainPublisher.class, FlowPublisher.class,
                StageSubtype.class, LazyStream.class, LazyIterator.class, WrappedFuture.class, StreamLater.class,
                OptionalStreamLater.class, NestedStream.class, LaterCall.class, EmptyName.class, UnknownParameter.class,
                BadExpression.class, BadWait.class, BadLease.class, BadPlaceholder.class, UnknownClient.class
            })
    void S14_aMistakeStopsTheStartAndIsNamed(Class<?> bean) {
        assertThat(startFails(bean)).hasMessageStartingWith("@Locked on " + bean.getSimpleName() + ".call");
    }

    @Test
    void S14_aTypeThatSpringKnowsByAnAdapterIsRefused() {
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.singleOptionalValue(AdaptedType.class, AdaptedType::new),
                        adapted -> Mono.empty(),
                        publisher -> new AdaptedType());
        assertThat(startFails(Adapted.class)).hasMessageContaining("the work of a AdaptedType");
    }

    @Test
    void S14_aTypeVariableIsWhatTheBeanSays() {
        assertThat(startFails(GenericFuture.class)).hasMessageContaining("the work of a Future");
        assertThat(startFails(BridgedFuture.class)).hasMessageContaining("the work of a Future");
    }

    @Test
    void S14_theMessagesSayWhatToDo() {
        assertThat(startFails(PrivateMethod.class)).hasMessageContaining("static and private");
        assertThat(startFails(FinalMethod.class)).hasMessageContaining("remove final");
        assertThat(startFails(Suspend.class)).hasMessageContaining("suspend function");
        assertThat(startFails(SkippedInt.class)).hasMessageContaining("int has no value for a skipped call");
        assertThat(startFails(PlainFuture.class)).hasMessageContaining("return CompletableFuture");
        assertThat(startFails(UnknownParameter.class))
                .hasMessageContaining("#odrer")
                .hasMessageContaining("order");
        assertThat(startFails(BadWait.class)).hasMessageContaining("maxWait is \"5\"");
        assertThat(startFails(BadLease.class))
                .hasMessageContaining("leaseDuration")
                .hasMessageContaining("PT1H");
        assertThat(startFails(BadPlaceholder.class)).hasMessageContaining("${missing}");
        assertThat(startFails(UnknownClient.class)).hasMessageContaining("\"missing\"");
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyAndPrototype {
        @Bean
        @Lazy
        SkippedInt lazy() {
            throw new AssertionError("created");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototype {
        @Bean
        @Scope("prototype")
        FinalMethod prototype() {
            throw new AssertionError("created");
        }
    }

    @Test
    void S14_beansThatDoNotExistYetAreCheckedByTheirType() {
        assertThat(startFails(LazyAndPrototype.class)).hasMessageContaining("SkippedInt.call");
        assertThat(startFails(Prototype.class)).hasMessageContaining("FinalMethod.call");
    }

    interface Unrelated {
        void other();
    }

    static class OnlyOnTheClass implements Unrelated {
        @Override
        public void other() {}

        @Locked(name = "x")
        public void call() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocking(proxyTargetClass = true)
    static class ClassProxies {}

    @Test
    void aMethodThatTheInterfaceProxyLacksStopsTheStart() {
        assertThat(startFails(OnlyOnTheClass.class)).hasMessageContaining("proxyTargetClass = true");
        try (LockContext context = LockContext.startAlone(ClassProxies.class, OnlyOnTheClass.class)) {
            context.bean(OnlyOnTheClass.class).call();
        }
    }

    static class Early {
        @Locked(name = "x")
        public void call() {}
    }

    record NeedsTheBeanTooEarly(Early early) implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyBean {
        @Bean
        static NeedsTheBeanTooEarly postProcessor(Early early) {
            return new NeedsTheBeanTooEarly(early);
        }
    }

    /** Reproduces ShedLock issues 350 and 2061: a bean without a proxy, whose locks are ignored silently. */
    @Test
    void aBeanThatWasCreatedBeforeTheProxiesStopsTheStart() {
        assertThat(startFails(Early.class, EarlyBean.class))
                .hasMessageContaining("(bean \"lockedBeansCheckTest.Early\")")
                .hasMessageContaining("no proxy");
    }

    @Configuration(proxyBeanMethods = false)
    static class EarliestBean {
        @Bean
        static BeanFactoryPostProcessor postProcessor(Early early) {
            return factory -> assertThat(early).isNotNull();
        }
    }

    @Test
    void aBeanThatWasCreatedBeforeThePostProcessorsStopsTheStart() {
        assertThat(startFails(Early.class, EarliestBean.class)).hasMessageContaining("no proxy");
    }

    @Test
    void aMissingClientStopsTheStart() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(LockContext.Locking.class, Early.class);
            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("LockClient");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"primary", "fallback", "default", "candidate"})
    void S14_theClientThatSpringChoosesIsCheckedBesideALazyOne(String attribute) {
        LockClient chosen = mock();
        when(chosen.named(any(), any())).thenThrow(new IllegalArgumentException("rejected"));
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(LockContext.Locking.class, Early.class);
            context.registerBean(
                    "chosen", LockClient.class, () -> chosen, bean -> bean.setPrimary(attribute.equals("primary")));
            context.registerBean("lazy", LockClient.class, () -> fail("created"), bean -> {
                bean.setLazyInit(true);
                bean.setFallback(attribute.equals("fallback"));
                ((AbstractBeanDefinition) bean).setDefaultCandidate(!attribute.equals("default"));
                bean.setAutowireCandidate(!attribute.equals("candidate"));
            });
            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("Early.call: rejected");
        }
    }

    /** Without @Locked methods no client is needed, and a lazy one is not created. */
    @Test
    void theContextCreatesNoClientByItself() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(LockContext.Locking.class);
            context.refresh();
            assertThat(context.containsBean("mortiseLockTemplate")).isTrue();
        }
    }
}
