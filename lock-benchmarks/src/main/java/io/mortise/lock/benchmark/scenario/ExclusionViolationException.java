// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

/** Thrown when two clients held one lock at the same time, or fencing tokens did not increase. */
public final class ExclusionViolationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ExclusionViolationException(String message) {
        super(message);
    }
}
