// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread that acquires and releases one lock, because most peers bind a lock to a thread.
 *
 * <p>An interrupt of the caller interrupts the call on this thread, and the caller waits for the outcome. So the interrupt takes
 * as long as the peer takes, and a grant that coincides with it is not lost.
 */
final class OwnerThread implements AutoCloseable {
    static final String NAME = "peer-owner-";

    private static final AtomicLong count = new AtomicLong();
    private static final Runnable END = () -> {};

    private final LinkedBlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private final Thread thread;

    OwnerThread() {
        thread = new Thread(this::serve, NAME + count.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        while (true) {
            try {
                Runnable call = calls.take();
                if (call == END) {
                    return;
                }
                call.run();
            } catch (InterruptedException e) {
                // An interrupt that arrived after its call had ended concerns no later call.
            }
        }
    }

    /** Runs the call on this thread and waits for its outcome. */
    <T> T call(Callable<T> call) throws Exception {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        calls.add(() -> {
            try {
                outcome.complete(call.call());
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        boolean interrupted = false;
        while (true) {
            try {
                T result = outcome.get();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return result;
            } catch (InterruptedException e) {
                interrupted = true;
                thread.interrupt();
            } catch (ExecutionException e) {
                throw failure(e.getCause(), interrupted);
            }
        }
    }

    private static Exception failure(Throwable cause, boolean interrupted) {
        if (interrupted && !(cause instanceof InterruptedException)) {
            Thread.currentThread().interrupt();
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof Exception exception ? exception : new CompletionException(cause);
    }

    /** Interrupts the running call. */
    void interrupt() {
        thread.interrupt();
    }

    /** Ends the thread after the running call. */
    @Override
    public void close() {
        calls.add(END);
    }
}
