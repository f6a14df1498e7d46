// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.util.Set;

/** Factory that opens a backend for its URL schemes; found by {@link java.util.ServiceLoader}. */
public interface LockProvider {
    /** The schemes, lower case. */
    Set<String> schemes();

    /** The names of the URL parameters that {@link #open} reads; others are refused before it is called (S14). */
    Set<String> parameters();

    /**
     * Connects and waits for the first response, at most {@link BackendContext#connectTimeout()}. What was opened is closed
     * again if this throws.
     *
     * @throws io.mortise.lock.BackendUnavailableException naming the endpoints that did not answer
     * @throws io.mortise.lock.BackendRefusedException if the store refused
     * @throws io.mortise.lock.LockConfigurationException if the URL cannot work
     */
    LockBackend open(LockUrl url, BackendContext context);
}
