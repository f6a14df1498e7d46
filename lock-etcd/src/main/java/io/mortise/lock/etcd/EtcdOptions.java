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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Options of the etcd backend. Immutable: each method returns a changed copy. Never prints credentials. */
public final class EtcdOptions {
    /** What all keys begin with unless said otherwise. */
    public static final String DEFAULT_NAMESPACE = "mortise/";

    /** How long the store keeps the locks of a silent client unless said otherwise. */
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
     * A jetcd client of Mortise's own.
     *
     * @param endpoints {@code host:port} of the members of one cluster, IPv6 in brackets: some of them are enough
     */
    public static EtcdOptions connectTo(List<String> endpoints) {
        Objects.requireNonNull(endpoints, "endpoints");
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("endpoints is empty, must name one host:port at least");
        }
        endpoints.forEach(EtcdOptions::check);
        return withDefaults(List.copyOf(endpoints), Optional.empty());
    }

    private static void check(String endpoint) {
        Matcher matcher = ENDPOINT.matcher(endpoint);
        int port = matcher.matches() ? Integer.parseInt(matcher.group("port")) : 0;
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("endpoint is \"" + endpoint
                    + "\", must be host:port with a port from 1 to 65535, IPv6 in brackets");
        }
    }

    /**
     * The application's own client, which Mortise never closes. It reconnects, retries and runs answers as its builder was
     * told; a namespace of its own comes before Mortise's. What a borrowed client costs: a request that timed out stays in
     * it until it ends by itself, after an outage it takes as long as its channel does to find the server again, and each lock
     * that is waited for, or has been held for a moment, needs a gRPC stream of its own: with as many as the server or a proxy
     * allows on a connection, renewals are not sent any more.
     *
     * <p>If the application uses the client from Vert.x threads, use it on another thread first, or before that open Mortise's:
     * jetcd gives a client's answers to the Vert.x context in which it was used first, and whatever blocks that context holds up
     * renewals.
     */
    public static EtcdOptions using(Client client) {
        Objects.requireNonNull(client, "client");
        return withDefaults(List.of(), Optional.of(client));
    }

    /**
     * What all keys begin with: up to 256 printable ASCII characters without spaces and percent signs, or nothing. Clients with
     * different namespaces do not see each other's locks, unless one begins with the other. With none the keys of lock
     * {@code x} are those of {@code etcdctl lock x}. Default {@value #DEFAULT_NAMESPACE}.
     */
    public EtcdOptions namespace(String start) {
        Objects.requireNonNull(start, "start");
        boolean plain = start.chars().allMatch(c -> c > ' ' && c < 127 && c != '%');
        if (start.length() > LONGEST_NAMESPACE || !plain) {
            throw new IllegalArgumentException("namespace is \"" + start + "\", must be at most " + LONGEST_NAMESPACE
                    + " printable ASCII characters without spaces and percent signs");
        }
        return new EtcdOptions(settings.withNamespace(start));
    }

    /**
     * How long the server keeps the locks of a silent client, all of them alike. From 1 s to 1 h, rounded up to whole seconds
     * and to what the server can do, about two of its election timeouts; what it grants is used. Default 15 s.
     */
    public EtcdOptions leaseDuration(Duration lease) {
        Objects.requireNonNull(lease, "lease");
        if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration is " + lease + ", must be from " + SHORTEST_LEASE + " to " + LONGEST_LEASE);
        }
        return new EtcdOptions(settings.withLeaseDuration(lease));
    }

    /** The user's role must be allowed to read and write all keys of the namespace. Not with {@link #using}. */
    public EtcdOptions credentials(String user, String password) {
        Objects.requireNonNull(user, "user");
        Objects.requireNonNull(password, "password");
        notOfBorrowed("credentials");
        if (user.isEmpty() || password.isEmpty()) {
            throw new IllegalArgumentException(
                    (user.isEmpty() ? "user" : "password") + " is empty, must have one character at least");
        }
        return new EtcdOptions(settings.withCredentials(new EtcdSettings.Credentials(user, password)));
    }

    /**
     * TLS, with whatever certificates the context has: made by {@code GrpcSslContexts.forClient()}. Not with {@link
     * #using}.
     */
    public EtcdOptions tls(SslContext context) {
        Objects.requireNonNull(context, "context");
        notOfBorrowed("tls");
        return new EtcdOptions(settings.withTls(context));
    }

    private void notOfBorrowed(String what) {
        if (settings.client().isPresent()) {
            throw new IllegalArgumentException(
                    what + " is given with the application's own client, must be told to that client's builder");
        }
    }

    /** For tests that read the wire. */
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
