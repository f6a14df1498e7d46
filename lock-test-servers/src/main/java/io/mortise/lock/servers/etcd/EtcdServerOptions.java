// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Options for starting an etcd test server: persistence, authentication, TLS and extra arguments. Immutable.
 *
 * @param keepsData whether the data survives a restart and a kill, as it is synced before each reply; always true in a cluster
 * @param rootPassword password of the user {@code root}; if set, requests without a user are rejected
 * @param tls whether the server also listens on a port with TLS
 * @param clientCertificates whether the TLS port requires client certificates
 * @param arguments additional command-line arguments, such as {@code --quota-backend-bytes}, {@code 16777216}
 */
public record EtcdServerOptions(
        boolean keepsData,
        Optional<String> rootPassword,
        boolean tls,
        boolean clientCertificates,
        List<String> arguments) {
    /** Creates options with a copy of the list. */
    public EtcdServerOptions {
        arguments = List.copyOf(arguments);
    }

    /** Returns the default options: a restart loses all data, and clients need neither TLS nor a password. */
    public static EtcdServerOptions defaults() {
        return new EtcdServerOptions(false, Optional.empty(), false, false, List.of());
    }

    /** Returns a copy with which the data survives a restart and a kill. */
    public EtcdServerOptions withKeptData() {
        return new EtcdServerOptions(true, rootPassword, tls, clientCertificates, arguments);
    }

    /** Returns a copy with authentication enabled, and this password for the user {@code root}, who has all permissions. */
    public EtcdServerOptions withRootPassword(String value) {
        return new EtcdServerOptions(keepsData, Optional.of(value), tls, clientCertificates, arguments);
    }

    /** Returns a copy with an additional port with TLS. */
    public EtcdServerOptions withTls() {
        return new EtcdServerOptions(keepsData, rootPassword, true, clientCertificates, arguments);
    }

    /** Returns a copy with an additional port with TLS that requires {@link EtcdTestServer#clientCertificate()}. */
    public EtcdServerOptions withClientCertificates() {
        return new EtcdServerOptions(keepsData, rootPassword, true, true, arguments);
    }

    /** Returns a copy with more arguments at the end of the command line. */
    public EtcdServerOptions withArguments(String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(more));
        return new EtcdServerOptions(keepsData, rootPassword, tls, clientCertificates, all);
    }
}
