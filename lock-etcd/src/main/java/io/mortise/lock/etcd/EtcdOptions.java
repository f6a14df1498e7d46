// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.etcd.jetcd.Client;
import io.grpc.ClientInterceptor;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options with which an application configures a lock client for etcd. Immutable: each method returns a changed copy.
 * Never prints credentials.
 */
public final class EtcdOptions {
    /** The default prefix of all keys. */
    public static final String DEFAULT_NAMESPACE = "mortise/";

    /** The default lease duration: how long the store keeps the locks of a client that sends no renewal. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(15);

    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    private static final Duration LONGEST_LEASE = Duration.ofHours(1);
    private static final int LONGEST_NAMESPACE = 256;
    private static final Pattern ENDPOINT =
            Pattern.compile("(?<host>[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]):(?<port>\\d{1,5})");

    private final EtcdSettings settings;

    private EtcdOptions(EtcdSettings settings) {
        this.settings = settings;
    }

    private static EtcdOptions withDefaults(List<String> endpoints, Optional<Client> client) {
        return new EtcdOptions(new EtcdSettings(
                endpoints, client, DEFAULT_NAMESPACE, DEFAULT_LEASE, Optional.empty(), Optional.empty(), List.of()));
    }

    /**
     * Returns options for a jetcd client that Mortise creates and closes.
     *
     * @param endpoints {@code host:port} of one or more members of one cluster, with IPv6 addresses in brackets
     */
    public static EtcdOptions connectTo(List<String> endpoints) {
        Objects.requireNonNull(endpoints, "endpoints");
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("endpoints is empty, must contain at least one host:port");
        }
        endpoints.forEach(EtcdOptions::checkEndpoint);
        return withDefaults(List.copyOf(endpoints), Optional.empty());
    }

    private static void checkEndpoint(String endpoint) {
        Matcher matcher = ENDPOINT.matcher(endpoint);
        int port = matcher.matches() ? Integer.parseInt(matcher.group("port")) : 0;
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("endpoint is \"" + endpoint
                    + "\", must be host:port with a port from 1 to 65535, IPv6 in brackets");
        }
    }

    /**
     * Returns options for a jetcd client that the application supplies and that Mortise never closes.
     *
     * <p>The client's builder decides how it reconnects, retries and runs callbacks. If the client has a namespace, that
     * precedes Mortise's. An application-supplied client has drawbacks: a request that timed out stays in it until it ends
     * by itself. After an outage its channel decides when to connect to the server again. Each lock that has a waiter, or
     * has been held for more than a moment, needs its own gRPC stream: when these reach the number that the server or a
     * proxy allows on a connection, renewals are no longer sent.
     *
     * <p>If the application uses the client on Vert.x threads, first use it on another thread, or open Mortise's client
     * before. jetcd runs a client's callbacks on the Vert.x context of its first use, and a call that blocks that context
     * delays renewals.
     */
    public static EtcdOptions using(Client client) {
        Objects.requireNonNull(client, "client");
        return withDefaults(List.of(), Optional.of(client));
    }

    /**
     * Sets the prefix of all keys: up to 256 printable ASCII characters without spaces and percent signs, or the empty
     * string. Clients with different namespaces do not see each other's locks, unless one namespace is a prefix of the
     * other. With an empty namespace the keys of lock {@code x} are those of {@code etcdctl lock x}. Default {@value
     * #DEFAULT_NAMESPACE}.
     */
    public EtcdOptions namespace(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        boolean plain = prefix.chars().allMatch(c -> c > ' ' && c < 127 && c != '%');
        if (prefix.length() > LONGEST_NAMESPACE || !plain) {
            throw new IllegalArgumentException("namespace is \"" + prefix + "\", must be at most " + LONGEST_NAMESPACE
                    + " printable ASCII characters without spaces and percent signs");
        }
        return new EtcdOptions(settings.withNamespace(prefix));
    }

    /**
     * Sets how long the server keeps the locks of a client that sends no renewal, the same for all locks of the client.
     * From 1 s to 1 h, rounded up to whole seconds and to the server's minimum, about two of its election timeouts; the
     * duration that the server grants is used. Default 15 s.
     */
    public EtcdOptions leaseDuration(Duration lease) {
        Objects.requireNonNull(lease, "lease");
        if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration is " + lease + ", must be from " + SHORTEST_LEASE + " to " + LONGEST_LEASE);
        }
        return new EtcdOptions(settings.withLeaseDuration(lease));
    }

    /**
     * Sets the user and the password. The user's role must be allowed to read and write all keys of the namespace. Not
     * allowed with {@link #using}.
     */
    public EtcdOptions credentials(String user, String password) {
        Objects.requireNonNull(user, "user");
        Objects.requireNonNull(password, "password");
        requireManagedClient("credentials");
        if (user.isEmpty() || password.isEmpty()) {
            throw new IllegalArgumentException(
                    (user.isEmpty() ? "user" : "password") + " is empty, must have at least one character");
        }
        return new EtcdOptions(settings.withCredentials(new EtcdSettings.Credentials(user, password)));
    }

    /**
     * Sets TLS with the certificates of a context that {@code GrpcSslContexts.forClient()} created. Not allowed with {@link
     * #using}.
     */
    public EtcdOptions tls(SslContext context) {
        Objects.requireNonNull(context, "context");
        requireManagedClient("tls");
        return tls(() -> context);
    }

    /** Sets the source of the TLS context of each client that is created. */
    EtcdOptions tls(Supplier<SslContext> context) {
        return new EtcdOptions(settings.withTls(context));
    }

    private void requireManagedClient(String option) {
        if (settings.client().isPresent()) {
            throw new IllegalArgumentException(option
                    + " cannot be set for a client that the application supplies: set it with that client's builder");
        }
    }

    /** Sets the interceptors with which tests observe the requests. */
    EtcdOptions interceptors(List<ClientInterceptor> added) {
        return new EtcdOptions(settings.withInterceptors(added));
    }

    EtcdSettings settings() {
        return settings;
    }

    /** Returns the endpoints and the namespace, without credentials. */
    @Override
    public String toString() {
        return settings.toString();
    }
}
