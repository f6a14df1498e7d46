// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spring.LockTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.quartz.SchedulerFactoryBean;

/** Tests that the client is closed after the work that uses it, and before what it uses itself. */
class ShutdownOrderTest {
    private final List<String> destroyed = new ArrayList<>();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockClientAutoConfiguration.class, LockingAutoConfiguration.class))
            .withBean(DestructionAwareBeanPostProcessor.class, () -> (bean, name) -> destroyed.add(name));

    @Test
    void S16_theClientIsClosedAfterAnExecutorThatAwaitsItsWork() throws Exception {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setWaitForTasksToCompleteOnShutdown(true);
        executor.setAwaitTerminationSeconds(50);
        CompletableFuture<Boolean> lost = new CompletableFuture<>();
        CountDownLatch holds = new CountDownLatch(1);
        application
                .withPropertyValues("mortise.url=memory:boot-shutdown")
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

    /** Created before the client, so they are destroyed after it if nothing says otherwise. */
    @Configuration(proxyBeanMethods = false)
    static class Schedulers {
        @Bean
        SchedulerFactoryBean quartz() {
            return new SchedulerFactoryBean();
        }

        @Bean
        SimpleAsyncTaskScheduler tasks() {
            return new SimpleAsyncTaskScheduler();
        }
    }

    @Test
    void S16_theClientIsClosedAfterAllSchedulers() {
        application
                .withPropertyValues("mortise.url=memory:boot-schedulers")
                .withUserConfiguration(Schedulers.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(destroyed)
                .containsSubsequence("quartz", "mortiseLockClient")
                .containsSubsequence("tasks", "mortiseLockClient");
    }

    /** A connection whose I/O runs on an executor that is a bean. */
    record Connection(Executor io) {}

    @Configuration(proxyBeanMethods = false)
    static class ConnectionOnAnExecutor {
        @Bean
        ThreadPoolTaskExecutor io() {
            return new ThreadPoolTaskExecutor();
        }

        @Bean
        Connection connection(ThreadPoolTaskExecutor io) {
            return new Connection(io);
        }

        @Bean
        LockConnection lockConnection(Connection connection) {
            return new LockConnection("the " + connection, options -> Locks.connect("memory:boot-connection", options));
        }
    }

    @Test
    void theClientIsClosedBeforeTheExecutorOfItsConnection() {
        application
                .withUserConfiguration(ConnectionOnAnExecutor.class)
                .withBean("jobs", ThreadPoolTaskExecutor.class, () -> new ThreadPoolTaskExecutor())
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(destroyed).containsSubsequence("jobs", "mortiseLockClient", "connection", "io");
    }

    @Configuration(proxyBeanMethods = false)
    static class CallbacksOnAnExecutor {
        @Bean
        ThreadPoolTaskExecutor callbacks() {
            return new ThreadPoolTaskExecutor();
        }

        @Bean
        ClientOptionsCustomizer customizer(ThreadPoolTaskExecutor callbacks) {
            return options -> options.callbackExecutor(callbacks);
        }
    }

    @Test
    void theClientIsClosedBeforeTheExecutorOfItsCallbacks() {
        application
                .withPropertyValues("mortise.url=memory:boot-callbacks")
                .withUserConfiguration(CallbacksOnAnExecutor.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(destroyed).containsSubsequence("mortiseLockClient", "callbacks");
    }

    /** An executor that knows what runs on it, which needs it. */
    static class Worker implements Executor {
        @Autowired
        @SuppressWarnings({"UnusedVariable", "NullAway.Init"}) // makes the circle
        private Jobs jobs;

        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    record Jobs(Worker worker) {}

    /** A client that needs the circle of the two. */
    @Configuration(proxyBeanMethods = false)
    static class ClientOfACircle {
        @Bean
        LockClient client(Jobs jobs) {
            assertThat(jobs.worker()).isNotNull();
            return Locks.connect("memory:boot-circle");
        }
    }

    @Test
    void circularBeansAreDestroyedAfterAClientThatNeedsThem() {
        application
                .withAllowCircularReferences(true)
                .withBean("worker", Worker.class)
                .withBean("jobs", Jobs.class)
                .withUserConfiguration(ClientOfACircle.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(destroyed).containsSubsequence("client", "worker").containsSubsequence("client", "jobs");
    }
}
