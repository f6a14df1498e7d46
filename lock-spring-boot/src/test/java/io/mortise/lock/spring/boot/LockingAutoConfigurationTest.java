// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.EnableLocking;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.core.Ordered;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Tests that locked methods work without further configuration, and the order of the shutdown. */
class LockingAutoConfigurationTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockClientAutoConfiguration.class, LockingAutoConfiguration.class))
            .withPropertyValues("mortise.url=memory:boot-locking");

    static class Worker {
        @Locked(name = "work")
        public String work() {
            return CurrentLease.get("work").ownerId();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocking(order = 17)
    static class OwnOrder {}

    @Test
    void lockedMethodsAreLocked() {
        application.withBean(Worker.class).run(context -> {
            assertThat(context.getBean(Worker.class).work()).isNotEmpty();
            assertThat(((Ordered) context.getBean("mortiseLockedAdvisor", Advisor.class)).getOrder())
                    .isEqualTo(EnableLocking.DEFAULT_ORDER);
        });
    }

    @Test
    void theOrderOfTheApplicationIsKept() {
        application.withUserConfiguration(OwnOrder.class).withBean(Worker.class).run(context -> {
            assertThat(context.getBean(Worker.class).work()).isNotEmpty();
            assertThat(((Ordered) context.getBean("mortiseLockedAdvisor", Advisor.class)).getOrder())
                    .isEqualTo(17);
        });
    }

    @Test
    void thereIsNoTemplateWithoutAClient() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockingAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean(LockTemplate.class));
    }

    @Test
    void S16_theClientIsClosedAfterAnExecutorThatAwaitsItsWork() throws Exception {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setWaitForTasksToCompleteOnShutdown(true);
        executor.setAwaitTerminationSeconds(50);
        CompletableFuture<Boolean> lost = new CompletableFuture<>();
        CountDownLatch holds = new CountDownLatch(1);
        application
                .withBean(
                        "executor",
                        ThreadPoolTaskExecutor.class,
                        () -> executor) // destroyed last if nothing says otherwise
                .withBean("lifecycleProcessor", DefaultLifecycleProcessor.class, () -> {
                    DefaultLifecycleProcessor phases = new DefaultLifecycleProcessor();
                    phases.setTimeoutPerShutdownPhase(100); // so that the work outlasts its phase
                    return phases;
                })
                .run(context -> {
                    LockTemplate locks = context.getBean(LockTemplate.class);
                    executor.execute(() -> locks.run("job", lease -> {
                        holds.countDown();
                        lost.complete(isLostWithinTwoSeconds(lease));
                    }));
                    assertThat(holds.await(20, TimeUnit.SECONDS)).isTrue();
                });
        assertThat(lost.get(20, TimeUnit.SECONDS)).isFalse();
        assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RuntimeException.class);
    }

    private static boolean isLostWithinTwoSeconds(Lease lease) {
        try {
            lease.lost().get(2, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
