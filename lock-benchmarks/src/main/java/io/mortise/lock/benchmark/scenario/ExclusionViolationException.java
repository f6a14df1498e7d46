// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

/** Thrown when two held one lock at once, or tokens did not rise. */
public final class ExclusionViolationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ExclusionViolationException(String message) {
        super(message);
    }
}
