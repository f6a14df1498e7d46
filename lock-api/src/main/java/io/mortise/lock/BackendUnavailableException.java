// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/** Thrown when the store did not answer: the outcome of the request is unknown. The message names the endpoints (S15). */
public final class BackendUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    public BackendUnavailableException(String message) {
        super(message, null);
    }

    public BackendUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
