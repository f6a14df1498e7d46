// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the steps of a close: one that fails keeps none of the others from running. */
public final class CloseSteps {
    private static final Logger log = LoggerFactory.getLogger(CloseSteps.class);

    private CloseSteps() {}

    /** Runs the step, and logs what it throws. */
    public static void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            log.error("event=close-step-failed", e);
        }
    }
}
