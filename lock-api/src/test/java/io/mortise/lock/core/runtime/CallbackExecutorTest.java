// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CallbackExecutorTest {
    private static Thread threadOf(CallbackExecutor callbacks) throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        callbacks.execute(() -> ran.complete(Thread.currentThread()));
        return ran.get(20, TimeUnit.SECONDS);
    }

    @Test
    void S07_anExecutorThatRunsInlineDoesNotGetTheCallingThread() throws Exception {
        CallbackExecutor callbacks = new CallbackExecutor(Optional.of(Runnable::run), false);
        assertThat(threadOf(callbacks)).isNotSameAs(Thread.currentThread());
        callbacks.close();
        assertThat(threadOf(callbacks)).as("also at the end").isNotSameAs(Thread.currentThread());
    }

    @Test
    void S07_anExecutorOfItsOwnKeepsItsThread() throws Exception {
        CompletableFuture<Thread> theirs = new CompletableFuture<>();
        Executor executor = task -> {
            Thread thread = new Thread(task);
            theirs.complete(thread);
            thread.start();
        };
        assertThat(threadOf(new CallbackExecutor(Optional.of(executor), false))).isSameAs(theirs.join());
    }

    /** Such as an event loop, on whose thread a lease was released. */
    @Test
    void S07_anExecutorThatComesToItLaterOnTheSameThreadKeepsIt() throws Exception {
        Queue<Runnable> loop = new ArrayDeque<>();
        CallbackExecutor callbacks = new CallbackExecutor(Optional.of(loop::add), false);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        callbacks.execute(() -> ran.complete(Thread.currentThread()));
        loop.remove().run();
        assertThat(ran.get(20, TimeUnit.SECONDS)).isSameAs(Thread.currentThread());
    }

    @Test
    void S07_aRejectedCallbackRunsOnAThreadOfOurs() throws Exception {
        Executor executor = task -> {
            throw new RejectedExecutionException("full");
        };
        assertThat(threadOf(new CallbackExecutor(Optional.of(executor), false)).getName())
                .startsWith("mortise-callback");
    }

    @Test
    void aHandCrankedClockRunsThemOnTheThreadThatCranksIt() throws Exception {
        assertThat(threadOf(new CallbackExecutor(Optional.of(Runnable::run), true)))
                .isSameAs(Thread.currentThread());
    }
}
