// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.BackendContext;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates the threads and thread pools of the core; all threads are daemons and have names. */
public final class CoreThreads {
    private static final int CALLBACK_THREADS = 16;
    private static final int IDLE_SECONDS = 10;

    private CoreThreads() {}

    /** Returns a factory of daemon threads. The name of each thread is the given one, a hyphen and a number. */
    public static ThreadFactory daemon(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Creates the pool for user code. It has several threads, so that a slow callback does not delay loss notifications. */
    static ThreadPoolExecutor callbacks() {
        return bounded(CALLBACK_THREADS, "mortise-callback");
    }

    /** Creates the pool for requests through a store's client that blocks, with a queue for those beyond its threads. */
    public static ThreadPoolExecutor blockingCalls() {
        return bounded(BackendContext.BLOCKING_CALLS, "mortise-request");
    }

    private static ThreadPoolExecutor bounded(int threads, String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemon(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Creates the pool for calls that may block, with one thread for each concurrent call. */
    public static ThreadPoolExecutor blocking() {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                daemon("mortise-blocking"));
    }
}
