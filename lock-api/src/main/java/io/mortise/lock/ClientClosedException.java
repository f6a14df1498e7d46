// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** Thrown when the client is closed, or was closed while the call waited (S16). */
public final class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    public ClientClosedException(String message) {
        super(message, null);
    }
}
