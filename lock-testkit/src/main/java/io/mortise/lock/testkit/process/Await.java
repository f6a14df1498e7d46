// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Polls a condition until it is true or a time limit has passed. */
public final class Await {
    private static final long PAUSE_NANOS = 5_000_000;

    private Await() {}

    /**
     * Returns once {@code condition} holds.
     *
     * @throws IllegalStateException if it does not hold within {@code limit}, if the thread is interrupted (the interrupt flag
     *     stays set), or if the condition fails with a checked exception, which is the cause
     */
    public static void until(String what, Duration limit, Callable<Boolean> condition) {
        if (!holdsWithin(limit, condition)) {
            throw new IllegalStateException("Timed out after " + limit + " waiting until " + what);
        }
    }

    /**
     * Returns true once {@code condition} holds, or false if it does not hold within {@code limit} or the thread is
     * interrupted.
     *
     * @throws IllegalStateException if the condition fails with a checked exception, which is the cause
     */
    public static boolean holdsWithin(Duration limit, Callable<Boolean> condition) {
        long start = System.nanoTime();
        while (true) {
            boolean last = System.nanoTime() - start > limit.toNanos(); // a check after a stall of this thread counts
            if (holds(condition)) {
                return true;
            }
            if (last || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static boolean holds(Callable<Boolean> condition) {
        try {
            return condition.call();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // ends the wait
            return false;
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
