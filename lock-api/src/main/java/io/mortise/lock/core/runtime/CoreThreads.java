// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates the core's threads: named daemons. */
public final class CoreThreads {
    private static final int CALLBACK_THREADS = 16;
    private static final int IDLE_SECONDS = 10;

    private CoreThreads() {}

    public static ThreadFactory daemon(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** For user code: several threads, so that one slow callback does not delay another holder's notice of loss. */
    static ThreadPoolExecutor callbacks() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                CALLBACK_THREADS,
                CALLBACK_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                daemon("mortise-callback"));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** For calls of a store's client that may block: as many as there are such calls at once. */
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
