// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Unwraps the original failure from the exceptions of completion stages and futures. */
public final class StageFailures {
    private StageFailures() {}

    /**
     * Returns the first failure in the chain of causes that is no {@link CompletionException} or {@link ExecutionException}, or that
     * has no cause.
     */
    public static Throwable unwrap(Throwable failure) {
        Throwable unwrapped = failure;
        while (unwrapped instanceof CompletionException || unwrapped instanceof ExecutionException) {
            Throwable cause = unwrapped.getCause();
            if (cause == null) {
                break;
            }
            unwrapped = cause;
        }
        return unwrapped;
    }
}
