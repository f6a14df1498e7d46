// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/** Superclass of the exceptions by which lock operations report a failure. */
public abstract sealed class LockException extends RuntimeException
        permits BackendUnavailableException,
                BackendRefusedException,
                LeaseLostException,
                LockConfigurationException,
                ClientClosedException {
    private static final long serialVersionUID = 1L;

    LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
