// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import java.util.List;

/** Thrown when the application has no connection for its locks, or several ones, and no {@code mortise.url}. */
final class LockConnectionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LockConnectionException(List<String> candidates) {
        super(
                candidates.isEmpty()
                        ? "No store for locks is configured: mortise.url is not set, and no connection of the application was found"
                        : "Several connections could serve for locks, and mortise.url is not set: "
                                + String.join(", ", candidates));
    }
}
