// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store does not respond to a request, or responds only with transient errors, such as a deadlock. The store
 * may or may not have executed the request: its outcome is unknown. The message names the endpoints (S15).
 */
public final class BackendUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String endpoints;

    /**
     * Creates an exception for a backend, without endpoints; the core adds them before the application receives it.
     *
     * @param message which request had no response
     */
    public BackendUnavailableException(String message) {
        this(message, null, null);
    }

    /**
     * Creates an exception for a backend, without endpoints; the core adds them before the application receives it.
     *
     * @param message which request had no response
     * @param cause the failure that the store's client reported, or null
     */
    public BackendUnavailableException(String message, @Nullable Throwable cause) {
        this(message, null, cause);
    }

    /**
     * Creates the exception.
     *
     * @param message which request had no response
     * @param endpoints see {@link #endpoints()}; null if the caller does not know them
     * @param cause the failure that the store's client reported, or null
     */
    public BackendUnavailableException(String message, @Nullable String endpoints, @Nullable Throwable cause) {
        super(message, cause);
        this.endpoints = endpoints;
    }

    /**
     * Returns this exception if it has endpoints; otherwise a copy with the given ones, and with this exception as its cause.
     *
     * @param named the endpoints that the copy gets
     */
    public BackendUnavailableException withEndpoints(String named) {
        return endpoints != null
                ? this
                : new BackendUnavailableException(Objects.requireNonNullElse(getMessage(), "no answer"), named, this);
    }

    /**
     * Returns the servers of the store that the client uses, such as {@code 10.0.0.1:2379,10.0.0.2:2379}; some of them may have
     * responded. Present in every exception that an application receives.
     */
    public Optional<String> endpoints() {
        return Optional.ofNullable(endpoints);
    }
}
