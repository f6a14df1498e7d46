// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Reads failures of stages and futures, which wrap what a request failed with. */
public final class StageFailures {
    private StageFailures() {}

    /** The failure without the wrapper of a stage or a future. */
    public static Throwable unwrap(Throwable failure) {
        boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
        Throwable cause = wrapped ? failure.getCause() : null;
        return cause == null ? failure : cause;
    }
}
