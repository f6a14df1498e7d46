// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of settings that let anyone in (S19). */
final class OpenStore {
    private static final Logger log = LoggerFactory.getLogger(OpenStore.class);
    private static final Set<String> told = ConcurrentHashMap.newKeySet();

    private OpenStore() {}

    /** Once per JVM and kind. */
    static void warnOnce(EtcdOptions options) {
        hint(options)
                .filter(told::add)
                .ifPresent(hint -> log.warn("event=open-store endpoints={} hint=\"{}\"", options.endpoints(), hint));
    }

    /** What the application's own client does is not known; with TLS a certificate may say who the client is. */
    static Optional<String> hint(EtcdOptions options) {
        if (options.client().isPresent() || options.tls().isPresent()) {
            return Optional.empty();
        }
        return Optional.of(
                options.credentials().isPresent()
                        ? "the password is sent without TLS: whoever listens can take or forge these locks"
                        : "without users anyone who reaches the servers can take or forge these locks");
    }
}
