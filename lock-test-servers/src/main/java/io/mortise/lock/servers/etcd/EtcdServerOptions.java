// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Options of an etcd test server. Immutable.
 *
 * @param keepsData whether its data outlives a restart and a kill: synced before each reply. The nodes of a cluster do so always
 * @param rootPassword what the user {@code root} must give; anybody else is refused as long as there are no other users
 * @param tls whether it listens on a port with TLS as well
 * @param clientCertificates whether that port asks its clients for a certificate
 * @param arguments more of its command line, such as {@code --quota-backend-bytes}, {@code 16777216}
 */
public record EtcdServerOptions(
        boolean keepsData,
        Optional<String> rootPassword,
        boolean tls,
        boolean clientCertificates,
        List<String> arguments) {
    /** The same with a copy of the list. */
    public EtcdServerOptions {
        arguments = List.copyOf(arguments);
    }

    /** Nothing of that: a restart loses all data, and clients need no password. */
    public static EtcdServerOptions defaults() {
        return new EtcdServerOptions(false, Optional.empty(), false, false, List.of());
    }

    /** The same, and its data outlives a restart and a kill. */
    public EtcdServerOptions withKeptData() {
        return new EtcdServerOptions(true, rootPassword, tls, clientCertificates, arguments);
    }

    /** The same with authentication enabled, and that password of the user {@code root}, who may do everything. */
    public EtcdServerOptions withRootPassword(String value) {
        return new EtcdServerOptions(keepsData, Optional.of(value), tls, clientCertificates, arguments);
    }

    /** The same with a port for TLS beside the plain one. */
    public EtcdServerOptions withTls() {
        return new EtcdServerOptions(keepsData, rootPassword, true, clientCertificates, arguments);
    }

    /** As {@link #withTls()}, and that port refuses clients without the certificate that the server gives out. */
    public EtcdServerOptions withClientCertificates() {
        return new EtcdServerOptions(keepsData, rootPassword, true, true, arguments);
    }

    /** The same with more arguments at the end of its command line. */
    public EtcdServerOptions withArguments(String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(more));
        return new EtcdServerOptions(keepsData, rootPassword, tls, clientCertificates, all);
    }
}
