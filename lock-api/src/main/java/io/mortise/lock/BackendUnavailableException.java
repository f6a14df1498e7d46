// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Thrown when the store did not answer: the outcome of the request is unknown. The message names the endpoints (S15). */
public final class BackendUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String endpoints;

    /** For a request of a backend; the core tells the application the endpoints. */
    public BackendUnavailableException(String message) {
        this(message, null, null);
    }

    /** For a request of a backend; the core tells the application the endpoints. */
    public BackendUnavailableException(String message, @Nullable Throwable cause) {
        this(message, null, cause);
    }

    /** @param endpoints see {@link #endpoints()}; null if the one who throws it does not know them */
    public BackendUnavailableException(String message, @Nullable String endpoints, @Nullable Throwable cause) {
        super(message, cause);
        this.endpoints = endpoints;
    }

    /** This, if it names its endpoints; else a copy that names these, with this as its cause. */
    public BackendUnavailableException withEndpoints(String named) {
        return endpoints != null
                ? this
                : new BackendUnavailableException(Objects.requireNonNullElse(getMessage(), "no answer"), named, this);
    }

    /** The servers that were asked, such as {@code 10.0.0.1:2379,10.0.0.2:2379}; present for whatever a client throws. */
    public Optional<String> endpoints() {
        return Optional.ofNullable(endpoints);
    }
}
