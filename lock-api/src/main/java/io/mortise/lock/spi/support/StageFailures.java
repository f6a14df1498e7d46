// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Unwraps the original failure from the exceptions of completion stages and futures. */
public final class StageFailures {
    private StageFailures() {}

    /**
     * Returns the cause of a {@link CompletionException} or {@link ExecutionException}; any other failure, or one without a
     * cause, is returned unchanged.
     */
    public static Throwable unwrap(Throwable failure) {
        boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
        Throwable cause = wrapped ? failure.getCause() : null;
        return cause == null ? failure : cause;
    }
}
