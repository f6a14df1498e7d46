// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

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

    /** Methods whose type does not say that their work ends after their return. */
    static class Vague {
        @Locked(name = "job", maxWait = "0s")
        public Object object(Object work) {
            return work;
        }

        @Locked(name = "job", maxWait = "0s")
        public <T> T generic(T work) {
            return work;
        }
    }

    abstract static class Base<T> {
        @Locked(name = "job", maxWait = "0s")
        public T inherited(T work) {
            return work;
        }
    }

    static class Stages extends Base<CompletableFuture<String>> {}

    private final LockContext context =
            LockContext.start(AsyncConfiguration.class, Jobs.class, Vague.class, Stages.class);
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

    @Test
    @SuppressWarnings("unchecked")
    void S01_aStageThatTheTypeHidesIsHeldUntilItCompletes() throws Exception {
        Vague vague = context.bean(Vague.class);
        List<UnaryOperator<CompletableFuture<String>>> methods = List.of(
                context.bean(Stages.class)::inherited,
                vague::generic,
                work -> (CompletableFuture<String>) vague.object(work),
                work -> (CompletableFuture<String>) vague.object(work.minimalCompletionStage()));
        for (UnaryOperator<CompletableFuture<String>> method : methods) {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = method.apply(work);
            assertThat(context.isFree("job")).isFalse();
            work.complete("done");
            assertThat(result.get()).isEqualTo("done");
            assertThat(context.isFree("job")).isTrue();
        }
        assertThat(vague.object("x")).isEqualTo("x");
    }

    @Test
    void S01_workThatTheTypeHidesAndThatCannotBeObservedFailsTheCall() {
        Vague vague = context.bean(Vague.class);
        FutureTask<String> done = new FutureTask<>(() -> "done");
        for (Object work : List.of(done, Mono.just("x"), Flux.just("x"), Stream.of("x"), Optional.of(done))) {
            assertThatThrownBy(() -> vague.object(work))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Vague.object")
                    .hasMessageContaining("without the lock");
        }
        done.run();
        assertThat(vague.object(done)).isSameAs(done);
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void S07_theLossIsSuppressedByTheExceptionThatTheCallerGets() {
        CompletableFuture<String> work = new CompletableFuture<>();
        IllegalArgumentException failure = new IllegalArgumentException("the work failed");
        CompletableFuture<String> result = jobs.stage(work.thenApply(value -> value)); // wraps the failure
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        result.whenComplete((value, thrown) -> seen.complete(thrown));
        context.lose("job");
        work.completeExceptionally(failure);
        assertThatThrownBy(result::get).cause().isSameAs(failure);
        assertThat(failure.getSuppressed())
                .hasOnlyElementsOfType(LeaseLostException.class)
                .hasSize(1);
        assertThat(seen.join()).isSameAs(failure);
    }

    /** The future is released before it completes: no other thread sees the result while the lock is held. */
    @Test
    void S05_theLockIsFreeWhenTheFutureCompletes() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Boolean> free = jobs.stage(work).thenApply(value -> context.isFree("job"));
        work.complete("done");
        assertThat(free.join()).isTrue();
    }

    @Test
    void whatPreventsTheMethodFailsTheFuture() {
        Thread.currentThread().interrupt();
        CompletableFuture<String> interrupted = jobs.stage(new CompletableFuture<>());
        assertThat(Thread.interrupted()).isTrue();
        assertThatThrownBy(interrupted::get).cause().isInstanceOf(LockInterruptedException.class);
        context.bean(LockTemplate.class).run("job", lease -> {
            CompletableFuture<String> nested = jobs.stage(new CompletableFuture<>());
            assertThatThrownBy(nested::get).cause().isInstanceOf(IllegalStateException.class);
        });
    }

    /** A cancellation interrupts the thread that waits for the inner future, whose work does not end by that. */
    @Test
    void S01_aCancelledAsyncFutureHoldsTheLockUntilItsWorkEnds() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        FutureTask<String> work = new FutureTask<>(() -> "done") {
            @Override
            public String get() throws InterruptedException, ExecutionException {
                waiter.complete(Thread.currentThread());
                try {
                    return super.get();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    throw e;
                }
            }
        };
        Future<String> result = jobs.future(work);
        Thread thread = waiter.get();
        assertThat(result.cancel(true)).isTrue();
        assertThat(interrupted.await(50, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Lease> next = context.other().named("job").acquireAsync();
        assertThatThrownBy(() -> next.get(200, TimeUnit.MILLISECONDS))
                .as("the work still runs")
                .isInstanceOf(TimeoutException.class);
        work.run();
        next.get(50, TimeUnit.SECONDS).release();
        thread.join(50_000);
        assertThat(context.isFree("job")).isTrue();
    }

    /** The methods of {@code CompletionStage} suffice: a stage need not support {@code toCompletableFuture}. */
    @Test
    void S01_aStageWithoutAFutureIsHeldUntilItCompletes() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> toCompletableFuture() {
                throw new UnsupportedOperationException();
            }
        };
        CompletableFuture<String> result = jobs.stage(work);
        assertThat(context.isFree("job")).isFalse();
        work.complete("done");
        assertThat(result.get()).isEqualTo("done");
    }

    @Test
    void aStageThatTakesNoDependentsReleasesTheLock() {
        CompletableFuture<String> broken = new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
                throw new UnsupportedOperationException();
            }
        };
        assertThatThrownBy(() -> jobs.stage(broken)).isInstanceOf(UnsupportedOperationException.class);
        assertThat(context.isFree("job")).isTrue();
    }
}
