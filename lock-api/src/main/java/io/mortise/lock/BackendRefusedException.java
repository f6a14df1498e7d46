// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store rejects a request, for example because of a wrong password, a missing
 * permission or a ZooKeeper chroot that does not exist. A retry does not
 * help until the cause is fixed.
 */
public final class BackendRefusedException extends LockException {
    private static final long serialVersionUID = 1L;

    /** @param message what the store rejected, and why */
    public BackendRefusedException(String message) {
        super(message, null);
    }

    /**
     * Creates the exception with its cause.
     *
     * @param message what the store rejected, and why
     * @param cause the failure that the store's client reported, or null
     */
    public BackendRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
