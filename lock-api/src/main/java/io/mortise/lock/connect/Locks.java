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

/** Entry point: opens a client by URL, with the backend that {@link java.util.ServiceLoader} finds for its scheme. */
public final class Locks {
    private Locks() {}

    /** As {@link #connect(String, ClientOptions, Capability...)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(String url, Capability... required) {
        return connect(url, ClientOptions.defaults(), required);
    }

    /**
     * Opens a client and waits for the first response of the store, at most {@link ClientOptions#connectTimeout()}.
     *
     * <p>URLs: {@code memory:NAME}, {@code zookeeper://h1:2181,h2:2181/base}; each backend documents its parameters. A
     * URL with {@code ?provider=CLASS} chooses between two providers of one scheme.
     *
     * @param required capabilities without which the application cannot work; checked before the client is returned
     * @throws LockConfigurationException if the URL is malformed, has an unknown parameter or scheme, two providers claim
     *     the scheme, or a required capability is missing
     * @throws BackendUnavailableException if no endpoint answered in time; it names them
     * @throws BackendRefusedException if the store answered and refused (password, ACL, missing chroot)
     */
    public static LockClient connect(String url, ClientOptions options, Capability... required) {
        Objects.requireNonNull(url, "url");
        Objects.requireNonNull(options, "options");
        for (Capability each : Objects.requireNonNull(required, "required")) {
            Objects.requireNonNull(each, "required");
        }
        return ProviderDiscovery.connect(url, options, List.of(required));
    }

    /** The schemes that can be opened now, each with the class of its provider, by scheme. */
    public static List<ProviderInfo> providers() {
        return ProviderDiscovery.found();
    }

    /**
     * A scheme that can be opened.
     *
     * @param scheme such as {@code redis}
     * @param providerClass the name that a URL's parameter {@code provider} may give
     */
    public record ProviderInfo(String scheme, String providerClass) {}
}
