// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.util.Set;

/** A factory that opens backends by URL; {@link java.util.ServiceLoader} finds its implementations. */
public interface LockProvider {
    /** Returns the URL schemes of this provider, in lower case. */
    Set<String> schemes();

    /** Returns the names of the URL parameters that {@link #open} supports; any other is rejected before the call (S14). */
    Set<String> parameters();

    /**
     * Connects to the store, and waits for its first response at most {@link BackendContext#connectTimeout()}. If this method
     * throws, it has closed everything that it opened.
     *
     * @param url the URL, with no other parameters than {@link #parameters()}
     * @param context the services of the client
     * @throws io.mortise.lock.BackendUnavailableException if the store does not respond in time; it names the endpoints
     * @throws io.mortise.lock.BackendRefusedException if the store rejects the client, for example its password
     * @throws io.mortise.lock.LockConfigurationException if the URL is invalid
     */
    LockBackend open(LockUrl url, BackendContext context);
}
