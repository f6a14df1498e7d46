// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the URL, the options or the class path are invalid. A mistake is reported before any I/O where that is possible
 * (S14).
 */
public final class LockConfigurationException extends LockException {
    private static final long serialVersionUID = 1L;

    /** @param message what is invalid, and what is expected */
    public LockConfigurationException(String message) {
        super(message, null);
    }

    /**
     * Creates the exception with its cause.
     *
     * @param message what is invalid, and what is expected
     * @param cause the underlying failure, or null
     */
    public LockConfigurationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
