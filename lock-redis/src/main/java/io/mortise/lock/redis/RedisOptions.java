// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How to reach Redis. Immutable: each method returns a changed copy. Never prints credentials. */
public final class RedisOptions {
    /** What all keys begin with unless said otherwise. */
    public static final String DEFAULT_PREFIX = "lock:";

    /** How long a grant lasts without renewal unless said otherwise. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    private static final Duration LONGEST_LEASE = Duration.ofHours(1);
    private static final int LONGEST_PREFIX = 256;
    static final int MOST_REPLICAS = 100;

    private final @Nullable RedisURI uri;
    private final @Nullable RedisClient client;
    private String prefix = DEFAULT_PREFIX;
    private Duration leaseDuration = DEFAULT_LEASE;
    private Optional<SslOptions> sslOptions = Optional.empty();
    private int waitReplicas;

    private RedisOptions(@Nullable RedisURI uri, @Nullable RedisClient client) {
        this.uri = uri;
        this.client = client;
    }

    private RedisOptions with(Consumer<RedisOptions> change) {
        RedisOptions copy = new RedisOptions(uri, client);
        copy.prefix = prefix;
        copy.leaseDuration = leaseDuration;
        copy.sslOptions = sslOptions;
        copy.waitReplicas = waitReplicas;
        change.accept(copy);
        return copy;
    }

    /**
     * A connection of Mortise's own: host and port, a Unix socket, or sentinels and the name of a master, with TLS, credentials
     * and database as the URI says. Sentinels are asked anew at each connection; their own credentials are those in {@link
     * RedisURI#getSentinels()}.
     */
    public static RedisOptions connectTo(RedisURI uri) {
        boolean sentinels = !uri.getSentinels().isEmpty();
        if (sentinels && uri.getSentinelMasterId() == null) {
            throw new IllegalArgumentException("uri names sentinels and no master");
        }
        if (!sentinels && uri.getSocket() == null && uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "uri names no host, must name one host and port, a socket, or sentinels");
        }
        return new RedisOptions(new OwnUri(uri), null);
    }

    /**
     * The application's own client, which Mortise never closes: it opens one connection of its own there. The client must have
     * been created with a {@code RedisURI}, and its options must not pin RESP2.
     */
    public static RedisOptions using(RedisClient client) {
        return new RedisOptions(null, client);
    }

    /**
     * What all keys begin with, 1 to 256 printable ASCII characters without spaces and braces. Clients with different prefixes
     * do not see each other's locks. Default {@value #DEFAULT_PREFIX}.
     */
    public RedisOptions prefix(String start) {
        boolean plain = start.chars().allMatch(c -> c > ' ' && c < 127 && c != '{' && c != '}');
        if (start.isEmpty() || start.length() > LONGEST_PREFIX || !plain) {
            throw new IllegalArgumentException("prefix is \"" + start + "\", must be 1 to " + LONGEST_PREFIX
                    + " printable ASCII characters without spaces and braces");
        }
        return with(copy -> copy.prefix = start);
    }

    /** How long the server keeps the lock of a silent client, for locks that do not say so themselves. 1 s to 1 h, default 30 s. */
    public RedisOptions leaseDuration(Duration lease) {
        if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration is " + lease + ", must be from " + SHORTEST_LEASE + " to " + LONGEST_LEASE);
        }
        return with(copy -> copy.leaseDuration = lease);
    }

    /** Trusted and own certificates, for a URI with TLS. Ignored with {@link #using}. */
    public RedisOptions sslOptions(SslOptions options) {
        return with(copy -> copy.sslOptions = Optional.of(options));
    }

    /**
     * A grant, and each renewal, counts only once so many replicas have it (S1): a master that fails loses it only together
     * with them. Each grant then takes a round trip more; while there are too few replicas there are no grants ({@link
     * io.mortise.lock.BackendUnavailableException}). 0 to {@value #MOST_REPLICAS}, default 0: replicas are not asked.
     */
    public RedisOptions waitReplicas(int replicas) {
        if (replicas < 0 || replicas > MOST_REPLICAS) {
            throw new IllegalArgumentException("waitReplicas is " + replicas + ", must be from 0 to " + MOST_REPLICAS);
        }
        return with(copy -> copy.waitReplicas = replicas);
    }

    int waitReplicas() {
        return waitReplicas;
    }

    Optional<RedisURI> uri() {
        return Optional.ofNullable(uri);
    }

    Optional<RedisClient> client() {
        return Optional.ofNullable(client);
    }

    String prefix() {
        return prefix;
    }

    Duration leaseDuration() {
        return leaseDuration;
    }

    Optional<SslOptions> sslOptions() {
        return sslOptions;
    }

    @Override
    public String toString() {
        return uri().map(RedisOptions::endpoint).orElse("redis://(the application's client)") + " prefix " + prefix;
    }

    private static String endpoint(RedisURI uri) {
        String database = uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase();
        if (!uri.getSentinels().isEmpty()) {
            return "redis-sentinel://"
                    + uri.getSentinels().stream()
                            .map(sentinel -> sentinel.getHost() + ":" + sentinel.getPort())
                            .collect(Collectors.joining(","))
                    + database + "?master=" + uri.getSentinelMasterId();
        }
        return uri.getSocket() != null
                ? "redis-socket://" + uri.getSocket() + (uri.getDatabase() == 0 ? "" : "?db=" + uri.getDatabase())
                : (uri.isSsl() ? "rediss://" : "redis://") + uri.getHost() + ":" + uri.getPort() + database;
    }
}
