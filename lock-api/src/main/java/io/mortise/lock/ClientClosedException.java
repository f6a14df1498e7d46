// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** Thrown when the client is closed before or during a call. Rule S16. */
public final class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    /** @param message which call failed */
    public ClientClosedException(String message) {
        super(message, null);
    }
}
