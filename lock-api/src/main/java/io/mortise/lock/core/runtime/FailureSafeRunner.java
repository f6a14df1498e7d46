// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the steps of a close operation, so that a failed step does not prevent the next ones. */
public final class FailureSafeRunner {
    private static final Logger log = LoggerFactory.getLogger(FailureSafeRunner.class);

    private FailureSafeRunner() {}

    /** Runs one step, and logs any exception that it throws. */
    public static void run(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            log.error("event=close-step-failed", e);
        }
    }
}
