// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests on which threads callbacks run, depending on the executor of the application. */
class CallbackExecutorTest {
    private static Thread threadOf(CallbackExecutor callbacks) throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        callbacks.execute(() -> ran.complete(Thread.currentThread()));
        return ran.get(20, TimeUnit.SECONDS);
    }

    @Test
    void S07_aDirectExecutorDoesNotRunCallbacksOnTheCallingThread() throws Exception {
        CallbackExecutor callbacks = new CallbackExecutor(Optional.of(Runnable::run), false);
        assertThat(threadOf(callbacks)).isNotSameAs(Thread.currentThread());
        callbacks.close();
        assertThat(threadOf(callbacks)).as("also after close()").isNotSameAs(Thread.currentThread());
    }

    @Test
    void S07_anExecutorWithItsOwnThreadUsesThatThread() throws Exception {
        CompletableFuture<Thread> applicationThread = new CompletableFuture<>();
        Executor executor = task -> {
            Thread thread = new Thread(task);
            applicationThread.complete(thread);
            thread.start();
        };
        assertThat(threadOf(new CallbackExecutor(Optional.of(executor), false))).isSameAs(applicationThread.join());
    }

    /** An example is an event loop, if a lease is released on its thread. */
    @Test
    void S07_anExecutorMayRunACallbackLaterOnTheSameThread() throws Exception {
        Queue<Runnable> loop = new ArrayDeque<>();
        CallbackExecutor callbacks = new CallbackExecutor(Optional.of(loop::add), false);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        callbacks.execute(() -> ran.complete(Thread.currentThread()));
        loop.remove().run();
        assertThat(ran.get(20, TimeUnit.SECONDS)).isSameAs(Thread.currentThread());
    }

    @Test
    void S07_aRejectedCallbackRunsOnAThreadOfTheClient() throws Exception {
        Executor executor = task -> {
            throw new RejectedExecutionException("full");
        };
        assertThat(threadOf(new CallbackExecutor(Optional.of(executor), false)).getName())
                .startsWith("mortise-callback");
    }

    @Test
    void S07_aCallbackForWhichNoThreadCouldBeCreatedRunsWithTheNext() throws Exception {
        AtomicInteger failures = new AtomicInteger(2); // it is tried twice
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    if (failures.getAndDecrement() > 0) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return new Thread(task);
                });
        CallbackExecutor callbacks = new CallbackExecutor(Optional.empty(), false, pool);
        CompletableFuture<Thread> first = new CompletableFuture<>();
        callbacks.execute(() -> first.complete(Thread.currentThread()));
        assertThat(first).isNotDone();
        threadOf(callbacks);
        assertThat(first.get(20, TimeUnit.SECONDS)).isNotNull();
        callbacks.close();
    }

    @Test
    void S07_aRejectedCallbackRunsAlsoIfTheRejectionCannotBeLogged() throws Exception {
        RuntimeException unprintable = new RejectedExecutionException() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("for the test");
            }
        };
        Executor executor = task -> {
            throw unprintable;
        };
        CallbackExecutor callbacks = new CallbackExecutor(Optional.of(executor), false);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        assertThatThrownBy(() -> callbacks.execute(() -> ran.complete(Thread.currentThread())))
                .hasMessage("for the test");
        assertThat(ran.get(20, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void withAManualClockCallbacksRunOnTheThreadThatAdvancesIt() throws Exception {
        assertThat(threadOf(new CallbackExecutor(Optional.of(Runnable::run), true)))
                .isSameAs(Thread.currentThread());
    }
}
