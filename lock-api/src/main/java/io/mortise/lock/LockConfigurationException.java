// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import org.jspecify.annotations.Nullable;

/** Thrown when the URL, the class path or the options cannot work; before any I/O where that is possible (S14). */
public final class LockConfigurationException extends LockException {
    private static final long serialVersionUID = 1L;

    public LockConfigurationException(String message) {
        super(message, null);
    }

    public LockConfigurationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
