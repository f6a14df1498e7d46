// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.mortise.lock.redis.admin.RedisExposureCheck;
import io.mortise.lock.redis.client.MasterLookupRedisUri;
import io.mortise.lock.redis.client.OptionLimits;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Options of the Redis backend, such as the server, the key prefix and the lease duration. Immutable: each method returns a
 * changed copy. {@link #toString} never shows credentials.
 */
public final class RedisOptions {
    /** The default prefix of all keys. */
    public static final String DEFAULT_PREFIX = "lock:";

    /** The default time that a grant lasts without renewal. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    static final int MOST_REPLICAS = 100;

    private final Target target;
    private final Settings settings;

    /** The server, cluster or application-supplied client to use; exactly one is set. */
    private record Target(
            Optional<RedisURI> uri,
            List<RedisURI> clusterUris,
            Optional<RedisClient> client,
            Optional<RedisClusterClient> clusterClient) {}

    private record Settings(String prefix, Duration leaseDuration, Optional<SslOptions> sslOptions, int waitReplicas) {
        static final Settings DEFAULTS = new Settings(DEFAULT_PREFIX, DEFAULT_LEASE, Optional.empty(), 0);

        Settings withPrefix(String start) {
            return new Settings(start, leaseDuration, sslOptions, waitReplicas);
        }

        Settings withLeaseDuration(Duration lease) {
            return new Settings(prefix, lease, sslOptions, waitReplicas);
        }

        Settings withSslOptions(SslOptions options) {
            return new Settings(prefix, leaseDuration, Optional.of(options), waitReplicas);
        }

        Settings withWaitReplicas(int replicas) {
            return new Settings(prefix, leaseDuration, sslOptions, replicas);
        }
    }

    private RedisOptions(Target target, Settings settings) {
        this.target = target;
        this.settings = settings;
    }

    private static RedisOptions withDefaults(Target target) {
        return new RedisOptions(target, Settings.DEFAULTS);
    }

    private RedisOptions with(Settings changed) {
        return new RedisOptions(target, changed);
    }

    /**
     * Returns options with which Mortise opens its own connection to this URI. The URI names a host and port, a Unix socket,
     * or sentinels and a master, and sets TLS, credentials and database. Sentinels are queried again for each connection;
     * their own credentials are those in {@link RedisURI#getSentinels()}.
     */
    public static RedisOptions connectTo(RedisURI uri) {
        Objects.requireNonNull(uri, "uri");
        boolean sentinels = !uri.getSentinels().isEmpty();
        if (sentinels && uri.getSentinelMasterId() == null) {
            throw new IllegalArgumentException("uri names sentinels and no master");
        }
        if (!sentinels && uri.getSocket() == null && uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "uri names no host, must name one host and port, a socket, or sentinels");
        }
        return withDefaults(
                new Target(Optional.of(new MasterLookupRedisUri(uri)), List.of(), Optional.empty(), Optional.empty()));
    }

    /**
     * Returns options with which Mortise uses a client that the application supplies. Mortise opens one connection with it and
     * never closes the client. The client must have been created with a {@code RedisURI}, and its options must not pin RESP2.
     * If the URI names sentinels, they are queried for the master at each connection, but not whether a majority of them still
     * names it (ADR 0030): use {@link #connectTo} for that.
     */
    public static RedisOptions using(RedisClient client) {
        Objects.requireNonNull(client, "client");
        return withDefaults(new Target(Optional.empty(), List.of(), Optional.of(client), Optional.empty()));
    }

    /**
     * Returns options with which Mortise opens its own connections to the masters of a cluster that have locks. Credentials and
     * TLS are those of the first URI. Locks in a cluster have other keys than locks on one server (ADR 0018).
     *
     * @param uris the URIs of some nodes of the cluster; one that responds is enough
     */
    public static RedisOptions connectToCluster(List<RedisURI> uris) {
        Objects.requireNonNull(uris, "uris");
        if (uris.isEmpty()) {
            throw new IllegalArgumentException("uris is empty, must name one node at least");
        }
        List<RedisURI> copies = new ArrayList<>();
        for (RedisURI uri : uris) {
            if (uri.getHost() == null || !uri.getSentinels().isEmpty() || uri.getDatabase() != 0) {
                throw new IllegalArgumentException(
                        "uris must each name a host and port, and database 0: clusters have no other");
            }
            copies.add(new MasterLookupRedisUri(uri));
        }
        return withDefaults(new Target(Optional.empty(), List.copyOf(copies), Optional.empty(), Optional.empty()));
    }

    /**
     * Returns options with which Mortise uses a cluster client that the application supplies. Mortise opens connections with
     * it, refreshes its topology when the cluster seems to have changed, and never closes it. Its options must not pin RESP2.
     */
    public static RedisOptions using(RedisClusterClient client) {
        Objects.requireNonNull(client, "client");
        return withDefaults(new Target(Optional.empty(), List.of(), Optional.empty(), Optional.of(client)));
    }

    /**
     * Sets the prefix of all keys: 1 to 256 printable ASCII characters without spaces, braces and percent signs. Clients with
     * different prefixes do not see each other's locks, unless one prefix begins with the other: lock {@code b:x} with prefix
     * {@code a:} has the same key as lock {@code x} with prefix {@code a:b:}. Default {@value #DEFAULT_PREFIX}.
     */
    public RedisOptions prefix(String start) {
        OptionLimits.checkPrefix(start);
        return with(settings.withPrefix(start));
    }

    /**
     * Sets how long the server keeps the lock of a silent client, for locks without a lease duration of their own. From 1 s to
     * 1 h, default 30 s.
     */
    public RedisOptions leaseDuration(Duration lease) {
        OptionLimits.checkLease("leaseDuration", lease);
        return with(settings.withLeaseDuration(lease));
    }

    /** Sets the trusted certificates and the client's own, for a URI with TLS. Ignored with {@link #using}. */
    public RedisOptions sslOptions(SslOptions options) {
        Objects.requireNonNull(options, "options");
        return with(settings.withSslOptions(options));
    }

    /**
     * Sets how many replicas must have a grant or a renewal before it counts (S1). A failing master then loses it only
     * together with these replicas. Each grant takes one more round trip. While too few replicas acknowledge in time, no lock is
     * granted: an acquire of a free lock fails with {@link io.mortise.lock.BackendUnavailableException}. From 0 to {@value #MOST_REPLICAS}; the default 0
     * waits for none.
     */
    public RedisOptions waitReplicas(int replicas) {
        if (replicas < 0 || replicas > MOST_REPLICAS) {
            throw new IllegalArgumentException("waitReplicas is " + replicas + ", must be from 0 to " + MOST_REPLICAS);
        }
        return with(settings.withWaitReplicas(replicas));
    }

    int waitReplicas() {
        return settings.waitReplicas;
    }

    Optional<RedisURI> uri() {
        return target.uri;
    }

    Optional<RedisClient> client() {
        return target.client;
    }

    boolean isCluster() {
        return !target.clusterUris.isEmpty() || target.clusterClient.isPresent();
    }

    List<RedisURI> clusterUris() {
        return target.clusterUris;
    }

    Optional<RedisClusterClient> clusterClient() {
        return target.clusterClient;
    }

    String prefix() {
        return settings.prefix;
    }

    Duration leaseDuration() {
        return settings.leaseDuration;
    }

    Optional<SslOptions> sslOptions() {
        return settings.sslOptions;
    }

    @Override
    public String toString() {
        return servers() + " prefix " + settings.prefix;
    }

    /** Returns the check whether the options leave the locks open to others; empty if the options do not tell. */
    Optional<StoreExposureCheck> access() {
        List<RedisURI> uris = isCluster() ? target.clusterUris : uri().stream().toList();
        return RedisExposureCheck.of(servers(), uris, settings.sslOptions.isPresent());
    }

    /** Returns the addresses of the servers, without secrets. */
    String servers() {
        if (isCluster()) {
            return target.clusterUris.isEmpty()
                    ? "redis-cluster://(the application's client)"
                    : scheme(target.clusterUris.get(0)) + "-cluster://" + addresses(target.clusterUris);
        }
        return uri().map(RedisOptions::endpoint).orElse("redis://(the application's client)");
    }

    private static String addresses(List<RedisURI> uris) {
        return uris.stream().map(uri -> uri.getHost() + ":" + uri.getPort()).collect(Collectors.joining(","));
    }

    private static String scheme(RedisURI uri) {
        return uri.isSsl() ? "rediss" : "redis";
    }

    private static String endpoint(RedisURI uri) {
        String database = uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase();
        if (!uri.getSentinels().isEmpty()) {
            return scheme(uri) + "-sentinel://"
                    + addresses(uri.getSentinels())
                    + database + "?master=" + uri.getSentinelMasterId();
        }
        return uri.getSocket() != null
                ? "redis-socket://" + uri.getSocket() + (uri.getDatabase() == 0 ? "" : "?db=" + uri.getDatabase())
                : scheme(uri) + "://" + uri.getHost() + ":" + uri.getPort() + database;
    }
}
