// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
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

    private final @Nullable RedisURI uri;
    private final @Nullable RedisClient client;
    private String prefix = DEFAULT_PREFIX;
    private Duration leaseDuration = DEFAULT_LEASE;
    private Optional<SslOptions> sslOptions = Optional.empty();

    private RedisOptions(@Nullable RedisURI uri, @Nullable RedisClient client) {
        this.uri = uri;
        this.client = client;
    }

    private RedisOptions with(Consumer<RedisOptions> change) {
        RedisOptions copy = new RedisOptions(uri, client);
        copy.prefix = prefix;
        copy.leaseDuration = leaseDuration;
        copy.sslOptions = sslOptions;
        change.accept(copy);
        return copy;
    }

    /** A connection of Mortise's own: host and port or a Unix socket, TLS, credentials and database as the URI says. */
    public static RedisOptions connectTo(RedisURI uri) {
        if (uri.getSocket() == null
                && (uri.getHost() == null || !uri.getSentinels().isEmpty())) {
            throw new IllegalArgumentException(
                    "uri names " + (uri.getSentinels().isEmpty() ? "no host" : "sentinels")
                            + ", must name one host and port, or a socket");
        }
        return new RedisOptions(RedisURI.builder(uri).build(), null);
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
        return uri.getSocket() != null
                ? "redis-socket://" + uri.getSocket() + (uri.getDatabase() == 0 ? "" : "?db=" + uri.getDatabase())
                : (uri.isSsl() ? "rediss://" : "redis://") + uri.getHost() + ":" + uri.getPort() + database;
    }
}
