// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A thread that acquires and releases one lock, because most lock libraries bind a lock to a thread.
 *
 * <p>An interrupt of the caller interrupts the call on this thread, and the caller waits for the outcome. So the interrupt takes
 * as long as the peer takes, and a grant that coincides with it is not lost.
 */
final class OwnerThread implements AutoCloseable {
    static final String NAME = "peer-owner-";

    private static final AtomicLong count = new AtomicLong();

    /** The last call of a thread, which does nothing. */
    private final Runnable end = new Runnable() {
        @Override
        public void run() {}
    };

    private final LinkedBlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile @Nullable Call<?> latest;

    OwnerThread() {
        thread = new Thread(this::serve, NAME + count.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        while (true) {
            try {
                Runnable call = calls.take();
                if (call == end) {
                    return;
                }
                call.run();
            } catch (InterruptedException e) {
                // Each call restores an interrupt that was meant for it.
            }
        }
    }

    /** Runs the call on this thread and waits for its outcome. */
    <T> T call(Callable<T> task) throws Exception {
        Call<T> call = new Call<>(thread, task);
        latest = call;
        boolean interrupted = Thread.interrupted();
        if (interrupted) {
            call.interrupt();
        }
        calls.add(call);
        while (true) {
            try {
                T result = call.outcome.get();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return result;
            } catch (InterruptedException e) {
                interrupted = true;
                call.interrupt();
            } catch (ExecutionException e) {
                throw failure(e.getCause(), interrupted);
            }
        }
    }

    private static Exception failure(@Nullable Throwable cause, boolean interrupted) {
        if (interrupted && !(cause instanceof InterruptedException)) {
            Thread.currentThread().interrupt();
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof Exception exception ? exception : new CompletionException(cause);
    }

    /** Interrupts the latest call. */
    void interrupt() {
        Call<?> call = latest;
        if (call != null) {
            call.interrupt();
        }
    }

    /** Ends the thread after the running call. */
    @Override
    public void close() {
        calls.add(end);
    }

    /** One call, which an interrupt reaches even if it comes before the call begins, and never after it has ended. */
    private static final class Call<T> implements Runnable {
        private final CompletableFuture<T> outcome = new CompletableFuture<>();
        private final Thread thread;
        private final Callable<T> task;
        private boolean running;
        private boolean interrupted;

        Call(Thread thread, Callable<T> task) {
            this.thread = thread;
            this.task = task;
        }

        @Override
        public void run() {
            begin();
            try {
                T result = task.call();
                end();
                outcome.complete(result);
            } catch (Throwable e) {
                end();
                outcome.completeExceptionally(e);
            }
        }

        private synchronized void begin() {
            running = true;
            if (interrupted) {
                thread.interrupt();
            }
        }

        private synchronized void end() {
            running = false;
            Thread.interrupted();
        }

        synchronized void interrupt() {
            interrupted = true;
            if (running) {
                thread.interrupt();
            }
        }
    }
}
