// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store answered and refused: wrong password, missing permission, missing chroot. Asking again does not help.
 */
public final class BackendRefusedException extends LockException {
    private static final long serialVersionUID = 1L;

    public BackendRefusedException(String message) {
        super(message, null);
    }

    public BackendRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
