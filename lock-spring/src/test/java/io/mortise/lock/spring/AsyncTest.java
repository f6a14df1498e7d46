// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Tests methods whose work ends after their return. */
class AsyncTest {
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncConfiguration {
        @Bean
        Executor taskExecutor() {
            return new SimpleAsyncTaskExecutor("async-");
        }
    }

    static class Jobs {
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);

        @Locked(name = "job", maxWait = "0s")
        public CompletableFuture<String> stage(CompletableFuture<String> work) {
            assertThat(CurrentLease.get().isHeld()).isTrue();
            return work;
        }

        @Locked(name = "job", busy = BusyPolicy.SKIP)
        public CompletionStage<Optional<String>> skippedOptional() {
            throw new AssertionError("the method ran");
        }

        @Locked(name = "job", busy = BusyPolicy.SKIP)
        public CompletableFuture<Void> skippedVoid() {
            throw new AssertionError("the method ran");
        }

        @Async
        @Locked(name = "job", maxWait = "0s")
        public void inBackground(CompletableFuture<String> thread) throws InterruptedException {
            started.countDown();
            end.await();
            thread.complete(
                    Thread.currentThread().getName() + " " + CurrentLease.get().lockName());
        }

        @Async
        @Locked(name = "job", maxWait = "0s")
        public Future<String> future(FutureTask<String> work) {
            started.countDown();
            return work;
        }
    }

    private final LockContext context = LockContext.start(AsyncConfiguration.class, Jobs.class);
    private final Jobs jobs = context.bean(Jobs.class);
    private final Jobs target = java.util.Objects.requireNonNull(
            (Jobs) org.springframework.aop.framework.AopProxyUtils.getSingletonTarget(jobs));

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void S01_theLeaseIsHeldUntilTheStageCompletes() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = jobs.stage(work);
        assertThat(context.isFree("job")).isFalse();
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(result.get()).isEqualTo("done");
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void aFailedStageReleasesTheLock() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = jobs.stage(work);
        work.completeExceptionally(new IllegalArgumentException("the work failed"));
        assertThatThrownBy(result::get).cause().isInstanceOf(IllegalArgumentException.class);
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void S07_aLossFailsTheStage() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = jobs.stage(work);
        context.lose("job");
        work.complete("done");
        assertThatThrownBy(result::get).cause().isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aBusyLockFailsOrSkipsTheStage() throws Exception {
        try (Lease held = context.acquireElsewhere("job")) {
            assertThatThrownBy(() -> jobs.stage(new CompletableFuture<>()).get())
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(LockBusyException.class);
            assertThat(jobs.skippedOptional().toCompletableFuture().get()).isEmpty();
            assertThat(jobs.skippedVoid().get()).isNull();
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** Reproduces alturkovic/distributed-lock issue 14: a lock that is held while the work is handed to another thread. */
    @Test
    void S01_anAsyncMethodHoldsTheLockWhileItRunsOnItsThread() throws Exception {
        CompletableFuture<String> thread = new CompletableFuture<>();
        jobs.inBackground(thread);
        target.started.await();
        assertThat(context.isFree("job")).isFalse();
        target.end.countDown();
        assertThat(thread.get()).startsWith("async-").endsWith(" job");
        try (Lease next = context.other().named("job").acquire()) {
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void S01_anAsyncMethodHoldsTheLockUntilItsFutureCompletes() throws Exception {
        FutureTask<String> work = new FutureTask<>(() -> "done");
        Future<String> result = jobs.future(work);
        target.started.await();
        assertThat(context.isFree("job")).isFalse();
        work.run();
        assertThat(result.get()).isEqualTo("done");
        assertThat(context.isFree("job")).isTrue();
    }
}
