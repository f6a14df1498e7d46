// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.SpringVersion;
import org.springframework.core.annotation.AliasFor;

class LockedTest {
    record Order(String id) {
        public String getId() {
            return id;
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "unused", maxWait = "0s")
    @interface OneAtATime {
        @AliasFor(annotation = Locked.class, attribute = "name")
        String value();
    }

    static class Orders {
        @Nullable
        LockContext context;

        @Locked(name = "'order/' + #order.id", maxWait = "0s")
        public long ship(@Nullable Order order) {
            String name = "order/" + Objects.requireNonNull(order).id();
            assertThat(context().isFree(name)).isFalse();
            assertThat(CurrentLease.get().lockName()).isEqualTo(name);
            return CurrentLease.fencingToken();
        }

        @Locked(name = "report", busy = BusyPolicy.SKIP)
        public void report(Runnable work) {
            work.run();
        }

        @Locked(name = "report", busy = BusyPolicy.SKIP)
        public Optional<String> optionalReport() {
            return Optional.of("done");
        }

        @Locked(name = "report", busy = BusyPolicy.SKIP)
        public @Nullable String nullableReport() {
            return "done";
        }

        @Locked(name = "lossy", maxWait = "0s")
        public String lossy(boolean fail) {
            context().lose("lossy");
            if (fail) {
                throw new IllegalArgumentException("the body failed");
            }
            return "done";
        }

        @Locked(name = "lossy", maxWait = "0s")
        public void lossyAndInterrupted() {
            context().loseUnnoticed("lossy");
            Thread.currentThread().interrupt();
        }

        @Locked(name = "outer", maxWait = "0s")
        public void nested(Orders self) {
            self.inner();
            assertThat(CurrentLease.get().lockName()).isEqualTo("outer");
        }

        @Locked(name = "inner", maxWait = "0s")
        public void inner() {
            assertThat(CurrentLease.get().lockName()).isEqualTo("inner");
            assertThat(CurrentLease.get("outer").lockName()).isEqualTo("outer");
            assertThatThrownBy(() -> CurrentLease.get("third"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("\"third\"");
        }

        @Locked(name = "outer", maxWait = "1h")
        public void again(Orders self) {
            self.again(self);
        }

        @OneAtATime("composed/${shop}")
        public void composed() {
            assertThat(CurrentLease.get().lockName()).isEqualTo("composed/o'neill");
        }

        @Locked(name = "slow", maxWait = "1h")
        public void slow() {}

        LockContext context() {
            return Objects.requireNonNull(context);
        }
    }

    private final LockContext context = LockContext.start(Map.of("shop", "o'neill"), Orders.class);
    private final Orders orders = context.bean(Orders.class);

    LockedTest() {
        // Fields of a class-based proxy are not those of the bean.
        ((Orders) Objects.requireNonNull(AopProxyUtils.getSingletonTarget(orders))).context = context;
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void theTestsRunOnTheSpringThatTheBuildNames() {
        assertThat(SpringVersion.getVersion()).startsWith(System.getProperty("mortise.test.spring", "6.2"));
    }

    @Test
    void S01_theMethodRunsUnderTheLockAndReleasesIt() {
        assertThat(AopUtils.isCglibProxy(orders)).isTrue();
        orders.ship(new Order("42"));
        assertThat(context.isFree("order/42")).isTrue();
    }

    @Test
    void S03_theTokenOfALaterCallIsGreater() {
        long first = orders.ship(new Order("42"));
        assertThat(orders.ship(new Order("42"))).isGreaterThan(first);
    }

    @Test
    void aBusyLockFailsTheCall() {
        try (Lease held = context.acquireElsewhere("order/42")) {
            assertThatThrownBy(() -> orders.ship(new Order("42")))
                    .isInstanceOfSatisfying(LockBusyException.class, busy -> {
                        assertThat(busy.lockName()).isEqualTo("order/42");
                        assertThat(busy.maxWait()).isZero();
                    })
                    .hasMessage("lock \"order/42\" is busy, waited for one attempt");
            orders.ship(new Order("43"));
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void aSkippedCallDoesNotWaitAndReturnsNothing() {
        Lease held = context.acquireElsewhere("report");
        orders.report(() -> {
            throw new AssertionError("the method ran");
        });
        assertThat(orders.optionalReport()).isEmpty();
        assertThat(orders.nullableReport()).isNull();
        held.release();
        assertThat(orders.optionalReport()).contains("done");
        assertThat(orders.nullableReport()).isEqualTo("done");
    }

    @Test
    void S07_aLossFailsTheCall() {
        assertThatThrownBy(() -> orders.lossy(false))
                .isInstanceOfSatisfying(
                        LeaseLostException.class,
                        loss -> assertThat(loss.lockName()).isEqualTo("lossy"));
        assertThat(context.isFree("lossy")).isTrue();
    }

    @Test
    void S07_aLossIsSuppressedInAFailureOfTheMethod() {
        assertThatThrownBy(() -> orders.lossy(true))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .hasOnlyElementsOfType(LeaseLostException.class)
                        .hasSize(1));
        assertThat(context.isFree("lossy")).isTrue();
    }

    @Test
    void S07_anInterruptDoesNotHideALossThatTheReleaseFinds() {
        assertThatThrownBy(orders::lossyAndInterrupted).isInstanceOf(LeaseLostException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void nestedMethodsHaveTheirOwnLeases() {
        orders.nested(orders);
        assertThat(context.isFree("outer")).isTrue();
        assertThat(context.isFree("inner")).isTrue();
    }

    @Test
    void S04_aCallThatWouldWaitForItselfFailsAtOnce() {
        assertThatThrownBy(() -> orders.again(orders))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("\"outer\"")
                .hasMessageContaining("not reentrant");
        assertThat(context.isFree("outer")).isTrue();
    }

    @Test
    void outsideThereIsNoCurrentLease() {
        orders.ship(new Order("42"));
        assertThatThrownBy(CurrentLease::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no @Locked method")
                .hasMessageContaining(Thread.currentThread().getName());
        assertThatThrownBy(CurrentLease::fencingToken).isInstanceOf(IllegalStateException.class);
    }

    /** The value of a placeholder never turns a constant into an expression. */
    @Test
    void aComposedAnnotationAndAPlaceholderGiveTheName() {
        orders.composed();
    }

    @Test
    void S10_anInterruptEndsTheWait() throws Exception {
        try (Lease held = context.acquireElsewhere("slow")) {
            Thread caller = Thread.currentThread();
            CompletableFuture<Void> interrupt = CompletableFuture.runAsync(() -> {
                while (caller.getState() != Thread.State.WAITING && caller.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
                caller.interrupt();
            });
            assertThatThrownBy(orders::slow)
                    .isInstanceOf(LockInterruptedException.class)
                    .hasMessageContaining("\"slow\"");
            assertThat(Thread.interrupted()).isTrue();
            interrupt.get(30, TimeUnit.SECONDS);
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void aWaitingCallRunsAfterTheRelease() throws InterruptedException, ExecutionException {
        Lease held = context.acquireElsewhere("slow");
        CompletableFuture<Void> call = CompletableFuture.runAsync(orders::slow);
        held.release();
        call.get();
    }

    @Test
    void S14_anExpressionWithoutAValueFailsBeforeTheLockIsRequested() {
        assertThatThrownBy(() -> orders.ship(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("@Locked on Orders.ship")
                .hasMessageContaining("'order/' + #order.id");
    }

    interface Api {
        @Locked(name = "api", maxWait = "0s")
        void call();
    }

    static class ApiBean implements Api {
        @Override
        public void call() {
            assertThat(CurrentLease.get().lockName()).isEqualTo("api");
        }
    }

    @Test
    void anAnnotationOfTheInterfaceAppliesToInterfaceProxies() {
        try (LockContext started = LockContext.start(ApiBean.class)) {
            Api bean = started.bean(Api.class);
            assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
            bean.call();
        }
    }

    interface Mapper<T> {
        @Locked(name = "'row/' + #id", maxWait = "0s", busy = BusyPolicy.SKIP)
        T find(long id);
    }

    interface NameMapper extends Mapper<Optional<String>> {}

    @Configuration(proxyBeanMethods = false)
    static class Mappers {
        /** As other libraries implement interfaces. */
        @Bean
        NameMapper mapper() {
            return (NameMapper) Proxy.newProxyInstance(
                    NameMapper.class.getClassLoader(),
                    new Class<?>[] {NameMapper.class},
                    (proxy, method, arguments) -> method.getName().equals("find")
                            ? Optional.of(CurrentLease.get().lockName())
                            : "a mapper");
        }
    }

    @Test
    void anInterfaceThatAnotherLibrarysProxyImplementsIsLocked() {
        try (LockContext started = LockContext.start(Mappers.class)) {
            NameMapper mapper = started.bean(NameMapper.class);
            assertThat(mapper.find(42)).contains("row/42");
            try (Lease held = started.acquireElsewhere("row/42")) {
                assertThat(mapper.find(42)).as("skipped").isEmpty();
                assertThat(held.isHeld()).isTrue();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoClients {
        @Bean
        @Lazy
        LockClient second() {
            return Locks.connect("memory:second-" + UUID.randomUUID());
        }
    }

    static class SecondBean {
        @Locked(name = "twice", client = "second", maxWait = "0s")
        public void second(FirstBean first) {
            first.first();
            assertThat(CurrentLease.get().lockName()).isEqualTo("twice");
        }
    }

    static class FirstBean {
        @Locked(name = "twice", client = "client", maxWait = "0s")
        public void first() {}
    }

    static class UndecidedBean {
        @Locked(name = "twice")
        public void call() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryClient {
        @Bean
        @Primary
        LockClient primary() {
            return Locks.connect("memory:primary-" + UUID.randomUUID());
        }
    }

    /** Two locks of the same name in two stores are two locks. */
    @Test
    void theNameOfTheBeanSelectsTheClient() {
        try (LockContext started = LockContext.start(TwoClients.class, FirstBean.class, SecondBean.class)) {
            started.bean(SecondBean.class).second(started.bean(FirstBean.class));
        }
    }

    @Test
    void S14_theStartFailsIfSeveralClientsCouldBeMeant() {
        assertThatThrownBy(() ->
                        LockContext.start(TwoClients.class, UndecidedBean.class).close())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("UndecidedBean.call")
                .hasMessageContaining("client,second");
    }

    @Test
    void aPrimaryClientIsUsed() {
        try (LockContext started = LockContext.start(PrimaryClient.class, UndecidedBean.class);
                Lease held = started.acquireElsewhere("twice")) {
            started.bean(UndecidedBean.class).call();
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class UnreachableClient {
        @Bean
        @Lazy
        @Primary
        LockClient unreachable() {
            MemoryStore store = MemoryStore.create();
            store.faults().refuse();
            return MemoryLocks.connect(store, ClientOptions.defaults());
        }
    }

    @Test
    void S15_anOutageIsNoWrongConfiguration() {
        try (LockContext started = LockContext.start(UnreachableClient.class, UndecidedBean.class)) {
            assertThatThrownBy(() -> started.bean(UndecidedBean.class).call())
                    .isInstanceOf(BeanCreationException.class)
                    .hasRootCauseInstanceOf(BackendUnavailableException.class);
        }
    }

    static class Options {
        @Locked(name = "options", maxWait = "PT0S", leaseDuration = "${lease}", maxHold = "2m")
        public Duration remaining() {
            return CurrentLease.get().remaining();
        }
    }

    @Test
    void durationsMayBePlaceholders() {
        try (LockContext started = LockContext.start(Map.of("lease", "45s"), Options.class)) {
            assertThat(started.bean(Options.class).remaining())
                    .isBetween(Duration.ofSeconds(31), Duration.ofSeconds(45));
        }
    }

    @Test
    void theDefaultWaitIsAProperty() {
        try (LockContext started = LockContext.start(Map.of("mortise.locked.max-wait", "0s"), UndecidedBean.class);
                Lease held = started.acquireElsewhere("twice")) {
            assertThatThrownBy(() -> started.bean(UndecidedBean.class).call()).isInstanceOf(LockBusyException.class);
            assertThat(held.isHeld()).isTrue();
        }
    }
}
