// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockName;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/** Blocks the calling thread until a future completes or the thread is interrupted. */
public final class InterruptibleWait {
    private InterruptibleWait() {}

    /**
     * Waits for an acquire operation; an interrupt withdraws the request.
     *
     * @param future the outcome of the operation; never fails
     * @param withdraw withdraws the request; returns false if there is already an outcome, which is then returned, with the
     *     interrupt flag kept
     */
    public static <T> T await(CompletableFuture<T> future, LockName lock, BooleanSupplier withdraw)
            throws InterruptedException {
        try {
            return future.get();
        } catch (InterruptedException e) {
            if (withdraw.getAsBoolean()) {
                throw interrupted("while waiting for lock \"" + lock + "\"", e);
            }
            T outcome = future.join();
            Thread.currentThread().interrupt();
            return outcome;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the core failed", e.getCause());
        }
    }

    private static InterruptedException interrupted(String when, InterruptedException cause) {
        InterruptedException interrupt = new InterruptedException("interrupted " + when);
        interrupt.initCause(cause);
        return interrupt;
    }

    /**
     * Waits for the future, which never fails. An interrupt ends the wait, and the interrupt flag is kept.
     *
     * @param ifInterrupted the value to return after an interrupt, unless the future has completed
     */
    public static <T> T awaitOr(CompletableFuture<T> future, T ifInterrupted) {
        boolean interrupted = Thread.interrupted();
        try {
            return interrupted ? future.getNow(ifInterrupted) : future.get();
        } catch (InterruptedException e) {
            interrupted = true;
            return future.getNow(ifInterrupted);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the core failed", e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
