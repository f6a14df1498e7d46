// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.time.Duration;
import java.util.List;

/** Thrown if an operation does not complete in time; its message names the operations that were still pending. */
final class NoOutcomeError extends AssertionError {
    private static final long serialVersionUID = 1;

    private String pending = "";

    NoOutcomeError(Duration within, Throwable cause) {
        super("no outcome in " + within, cause);
    }

    /** Sets the operations that were pending, which the place that waits does not know. */
    void pending(List<String> operations) {
        pending = operations.isEmpty()
                ? ", and no acquire was pending"
                : ", while these were pending: " + String.join("; ", operations);
    }

    @Override
    public String getMessage() {
        return super.getMessage() + pending;
    }
}
