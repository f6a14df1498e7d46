// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.connect;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import java.util.List;
import java.util.Objects;

/**
 * The entry point for applications, which opens clients by URL. {@link java.util.ServiceLoader} finds the backend for the
 * scheme of the URL. Thread-safe.
 */
public final class Locks {
    private Locks() {}

    /**
     * Opens a client with {@linkplain ClientOptions#defaults() default options}; see
     * {@link #connect(String, ClientOptions, Capability...)}.
     */
    public static LockClient connect(String url, Capability... required) {
        return connect(url, ClientOptions.defaults(), required);
    }

    /**
     * Opens a client, and waits for the first response of the store at most {@link ClientOptions#connectTimeout()}; on Redlock
     * longer if masters are in quarantine.
     *
     * @param url a URL such as {@code memory:NAME} or {@code zookeeper://h1:2181,h2:2181/base}; each backend documents its
     *     parameters. The parameter {@code ?provider=CLASS} selects one of several providers for the same scheme
     * @param options the options of the client
     * @param required capabilities that the application needs; the call fails if the backend does not offer all of them
     * @return the client, which the application must close
     * @throws LockConfigurationException if the URL is malformed or has an unknown parameter, if no provider or more than one
     *     supports its scheme, if a required capability is missing, or if libraries on the class path are incompatible
     * @throws BackendUnavailableException if no server responds in time; it names the endpoints
     * @throws BackendRefusedException if the store rejects the client, for example because of a wrong password, a
     *     missing permission or a ZooKeeper chroot that does not exist
     */
    public static LockClient connect(String url, ClientOptions options, Capability... required) {
        Objects.requireNonNull(url, "url");
        Objects.requireNonNull(options, "options");
        for (Capability each : Objects.requireNonNull(required, "required")) {
            Objects.requireNonNull(each, "required");
        }
        return ProviderDiscovery.connect(url, options, List.of(required));
    }

    /** Returns the supported schemes with the classes of their providers, sorted by scheme. */
    public static List<ProviderInfo> providers() {
        return ProviderDiscovery.found();
    }

    /**
     * A supported URL scheme and its provider.
     *
     * @param scheme the scheme, such as {@code redis}
     * @param providerClass the class name of the provider, which the URL parameter {@code provider} can select
     */
    public record ProviderInfo(String scheme, String providerClass) {}
}
