// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockName;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/** Blocks a thread until a future completes; an interrupt withdraws the request. */
public final class InterruptibleWait {
    private InterruptibleWait() {}

    /**
     * Waits for the future, which never fails.
     *
     * @param withdraw called on an interrupt; false: the outcome is there or coming at once, and is returned with the flag
     *     kept
     */
    public static <T> T await(CompletableFuture<T> future, LockName lock, BooleanSupplier withdraw)
            throws InterruptedException {
        try {
            return future.get();
        } catch (InterruptedException e) {
            if (withdraw.getAsBoolean()) {
                throw interrupted("while lock \"" + lock + "\" was waited for", e);
            }
            T outcome = future.join();
            Thread.currentThread().interrupt();
            return outcome;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the core failed", e.getCause());
        }
    }

    private static InterruptedException interrupted(String when, InterruptedException cause) {
        InterruptedException told = new InterruptedException("interrupted " + when);
        told.initCause(cause);
        return told;
    }

    /** Waits for the future, which never fails; an interrupt ends the wait with the other value, the flag kept. */
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
