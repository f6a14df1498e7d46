// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.Client;
import io.grpc.ClientInterceptor;
import io.mortise.lock.spi.support.StoreExposureCheck;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The validated settings of one etcd lock client, such as its members, namespace and lease duration. Immutable.
 *
 * @param endpointList the members of the cluster, each as {@code host:port}; empty if the application supplies the client
 * @param client the application-supplied client; empty if Mortise creates its own
 * @param namespace the prefix of all keys
 * @param leaseDuration the requested duration of a session's lease; the server may grant more
 * @param credentials the user name and password of the client
 * @param tls returns the TLS context for each new client, with the certificates of that moment; empty for a connection without TLS
 * @param interceptors observe every request of a client that Mortise creates; for tests
 */
public record EtcdSettings(
        List<String> endpointList,
        Optional<Client> client,
        String namespace,
        Duration leaseDuration,
        Optional<Credentials> credentials,
        Optional<Supplier<SslContext>> tls,
        List<ClientInterceptor> interceptors) {

    /** A user's name and password. Never prints its content. */
    public static final class Credentials {
        private final String user;
        private final String password;

        /** Keeps both values unchanged. */
        public Credentials(String user, String password) {
            this.user = user;
            this.password = password;
        }

        /** Returns the user's name. */
        public String user() {
            return user;
        }

        /** Returns the user's password. */
        public String password() {
            return password;
        }
    }

    /** Returns a copy with another namespace. */
    public EtcdSettings withNamespace(String prefix) {
        return new EtcdSettings(endpointList, client, prefix, leaseDuration, credentials, tls, interceptors);
    }

    /** Returns a copy with another lease duration. */
    public EtcdSettings withLeaseDuration(Duration lease) {
        return new EtcdSettings(endpointList, client, namespace, lease, credentials, tls, interceptors);
    }

    /** Returns a copy with other credentials. */
    public EtcdSettings withCredentials(Credentials added) {
        return new EtcdSettings(endpointList, client, namespace, leaseDuration, Optional.of(added), tls, interceptors);
    }

    /** Returns a copy with TLS. */
    public EtcdSettings withTls(Supplier<SslContext> context) {
        return new EtcdSettings(
                endpointList, client, namespace, leaseDuration, credentials, Optional.of(context), interceptors);
    }

    /** Returns a copy with other interceptors. */
    public EtcdSettings withInterceptors(List<ClientInterceptor> added) {
        return new EtcdSettings(endpointList, client, namespace, leaseDuration, credentials, tls, List.copyOf(added));
    }

    /**
     * Returns the check of who can reach the locks; empty for an application-supplied client. With TLS a certificate may
     * identify the client.
     */
    public Optional<StoreExposureCheck> exposureCheck() {
        if (client.isPresent()) {
            return Optional.empty();
        }
        List<String> hosts = endpointList.stream()
                .map(endpoint -> endpoint.substring(0, endpoint.lastIndexOf(':')))
                .toList();
        return Optional.of(new StoreExposureCheck(
                endpoints(),
                StoreExposureCheck.isLoopback(hosts),
                credentials.isPresent() || tls.isPresent(),
                credentials.isPresent(),
                tls.isPresent(),
                true));
    }

    /** Returns the endpoints as a URL without credentials. */
    public String endpoints() {
        String scheme = tls.isPresent() ? "etcds://" : "etcd://";
        return scheme + (client.isPresent() ? "(the application's client)" : String.join(",", endpointList));
    }

    /** Returns the endpoints and the namespace, without credentials. */
    @Override
    public String toString() {
        return endpoints() + " namespace \"" + namespace + "\"";
    }
}
