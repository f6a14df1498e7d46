// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Adapter for another library's lock in one particular configuration, together with the guarantees that the library documents
 * for it.
 */
interface Peer {
    /** Returns the short name on the command line and in file names. */
    String id();

    /** Returns the lock's name in the report, such as {@code Curator InterProcessMutex}. */
    String title();

    /** Returns the versions of the library and of its client. */
    String version();

    /** Returns the configuration in one sentence. */
    String configuration();

    StoreKind store();

    /** Returns the capabilities that the peer's documentation claims. */
    Set<Capability> capabilities();

    /** Returns the promises that the peer's documentation makes. */
    Set<Claim> claims();

    /** Returns whether only the thread that acquired a lock may release it. */
    default boolean ownedByThread() {
        return true;
    }

    /** Returns how long the store keeps a lock whose holder is silent, as configured by {@link #connect}. */
    default Duration lease() {
        return Duration.ofSeconds(6);
    }

    /**
     * Returns where the store keeps the lock: a key, a prefix of keys, the parent of the nodes, or the row's key.
     *
     * @param namespace the prefix of all locks of one test
     */
    String entry(String namespace, String lockName);

    /**
     * Opens a client.
     *
     * @param addresses {@code host:port} of each server
     * @param namespace the prefix of all locks of one test
     */
    PeerLibraryClient connect(List<String> addresses, String namespace, ClientOptions options) throws Exception;
}
